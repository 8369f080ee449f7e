// Names of metrics, in the order in which they stand in a line.
#include "train/recorder.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace trireme {
namespace {

void add_experts(const ExpertLoad& load, std::vector<Metric>& metrics) {
  metrics.push_back({"moe_max_share", load.max_share});
  metrics.push_back({"moe_entropy", load.entropy});
  metrics.push_back({"moe_dropped", load.dropped});
}

// layers x experts numbers.
void add_load_by_layer(const ExpertLoad& load, std::vector<Metric>& metrics) {
  for (const LayerLoad& layer : load.layers)
    metrics.push_back({fmt::format("moe_load.{}", layer.layer), layer.chosen});
}

}  // namespace

Recorder::Recorder(const RunFolder& folder, const RunSpec& spec, int64_t resumed_step, double flops_per_token,
                   double peak_flops)
    : spec_(spec),
      flops_per_token_(flops_per_token),
      peak_flops_(peak_flops),
      metrics_(folder.metrics(), resumed_step),
      events_(folder.path, resumed_step),
      progress_(stderr, progress_style_of(stderr)) {}

double Recorder::mean_step_s() const {
  return steps_ > 1 ? measured_s_ / static_cast<double>(steps_ - 1) : 0;
}

double Recorder::mean_tokens_per_s() const {
  const double step_s = mean_step_s();
  return step_s > 0 ? static_cast<double>(tokens_per_step(spec_)) / step_s : 0;
}

std::optional<double> Recorder::mfu(double tokens_per_s) const {
  if (peak_flops_ <= 0 || tokens_per_s <= 0) return std::nullopt;
  return flops_per_token_ * tokens_per_s / peak_flops_;
}

void Recorder::show(const StepResult& result) {
  if (++steps_ > 1) measured_s_ += result.step_s;
  if (!is_shown(result.step) && steps_ > 1) return;
  Progress progress;
  progress.step = result.step;
  progress.steps = spec_.run.steps;
  progress.loss = result.loss;
  progress.grad_norm = result.grad_norm;
  progress.lr = result.lr;
  progress.tokens_per_s = mean_tokens_per_s();
  progress.mfu = mfu(progress.tokens_per_s);
  progress.step_s = mean_step_s();
  progress_.update(progress, seconds_now());
}

void Recorder::write(const StepResult& result) {
  const double tokens_per_s = static_cast<double>(tokens_per_step(spec_)) / result.step_s;
  std::vector<Metric> metrics = {{"tokens_seen", result.tokens_seen},
                                 {"loss", result.loss},
                                 {"grad_norm", result.grad_norm},
                                 {"lr", result.lr},
                                 {"counted_tokens", result.counted_tokens},
                                 {"skipped", result.skipped},
                                 {"skipped_steps", result.skipped_steps},
                                 {"step_s", result.step_s},
                                 {"tokens_per_s", tokens_per_s},
                                 {"loader_stall_s", result.loader_stall_s},
                                 {"exposed_comm_s", result.exposed_comm_s},
                                 {"eval_s", result.eval_s},
                                 {"ckpt_blocked_s", result.checkpoint.blocked_s},
                                 {"ckpt_write_s", result.checkpoint.write_s},
                                 {"ckpt_bytes", result.checkpoint.bytes}};
  if (const auto m = mfu(tokens_per_s)) metrics.push_back({"mfu", *m});
  if (result.eval) {
    metrics.push_back({"val_loss", result.eval->loss});
    if (result.eval->bits_per_byte) metrics.push_back({"val_bits_per_byte", *result.eval->bits_per_byte});
  }
  if (result.experts) add_experts(*result.experts, metrics);
  if (result.experts && is_shown(result.step)) add_load_by_layer(*result.experts, metrics);
  metrics_.write(result.step, metrics);

  std::vector<Scalar> scalars;
  for (const Metric& metric : metrics) {
    if (const auto* d = std::get_if<double>(&metric.value))
      scalars.push_back({metric.name, static_cast<float>(*d)});
    if (const auto* i = std::get_if<int64_t>(&metric.value))
      scalars.push_back({metric.name, static_cast<float>(*i)});
  }
  events_.write(result.step, scalars);
}

}  // namespace trireme
