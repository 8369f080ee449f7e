// Both rules keep the stochastic differential equation that the optimizer approximates, in time counted in
// samples; so steps become steps / k.
#include "plan/calculators/batch_scaling.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace trireme {
namespace {

void add(AnswerSection& section, Worked result) {
  section.results.push_back(worked_number(std::move(result)));
}

double scaled_beta(const char* name, double beta, double k) {
  const double scaled = 1 - k * (1 - beta);
  if (scaled > 0) return scaled;
  fail_user(
      "k = {}: {} = {} would become {}; the rule holds for k less than 1 / (1 - {}) = {}: change the batch "
      "by less, or begin from another {}",
      plain(k), name, plain(beta), plain(scaled), plain(beta), plain(1 / (1 - beta)), name);
}

void add_adam(AnswerSection& section, const OptimizerSettings& was, double k) {
  add(section, {.key = "lr",
                .label = "lr",
                .value = was.lr * std::sqrt(k),
                .formula = "lr * sqrt(k)",
                .numbers = fmt::format("{} * sqrt({})", plain(was.lr), plain(k))});
  const auto beta = [&](const char* name, double value) {
    add(section, {.key = name,
                  .label = name,
                  .value = scaled_beta(name, value, k),
                  .formula = fmt::format("1 - k * (1 - {})", name),
                  .numbers = fmt::format("1 - {} * (1 - {})", plain(k), plain(value))});
  };
  beta("beta1", was.beta1);
  beta("beta2", was.beta2);
  add(section, {.key = "eps",
                .label = "eps",
                .value = was.eps / std::sqrt(k),
                .formula = "eps / sqrt(k)",
                .numbers = fmt::format("{} / sqrt({})", plain(was.eps), plain(k))});
}

}  // namespace

Answer scale_batch(const OptimizerSettings& settings, double from, double to) {
  const bool adam = settings.kind == OptimizerKind::adamw;
  const double k = to / from;
  AnswerSection section{adam ? "Adam's square-root rule (Malladi et al. 2022, definition 5.3)"
                             : "SGD's linear rule (Goyal et al. 2017)",
                        {}};
  add(section, {.key = "k",
                .label = "k, of the batch",
                .value = k,
                .formula = "to / from",
                .numbers = fmt::format("{} / {}", plain(to), plain(from))});
  if (adam)
    add_adam(section, settings, k);
  else
    add(section, {.key = "lr",
                  .label = "lr",
                  .value = settings.lr * k,
                  .formula = "lr * k",
                  .numbers = fmt::format("{} * {}", plain(settings.lr), plain(k))});
  Answer answer{{std::move(section)}, {}};
  answer.notes.push_back(
      fmt::format("Steps, warmup and decay in steps become 1/k = {} of what they were, for the same samples.",
                  plain(1 / k)));
  answer.notes.push_back(
      adam ? "The rule is for gradients whose noise outweighs their mean, and says nothing of weight decay."
           : "Momentum stays as it is. The rule breaks down for large k; warm up over the first epochs.");
  return answer;
}

}  // namespace trireme
