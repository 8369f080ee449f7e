// The state of each ZeRO stage by the paper's count and by Trireme's, the activations, and their sum.
#include "plan/calculators/fit_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace trireme {
namespace {

struct StateTable {
  const char* key;
  std::string title;
  StateBytes state;
};

AnswerSection state_section(const FitNumbers& input, const StateTable& table) {
  const int64_t shards = input.devices / input.tp;
  const double parameters = input.parameters / static_cast<double>(input.tp);
  const std::string held =
      input.tp == 1 ? plain(input.parameters) : fmt::format("{}/{}", plain(input.parameters), input.tp);
  AnswerSection section{table.title, {}};
  for (int zero = 0; zero < kZeroStages; ++zero) {
    const StateFormula formula = state_formula(table.state, zero, shards);
    const double each = bytes_per_parameter(table.state, zero, shards);
    section.results.push_back(worked_number({.key = fmt::format("{}_zero{}_per_parameter", table.key, zero),
                                             .label = fmt::format("ZeRO {}, bytes a parameter", zero),
                                             .value = each,
                                             .unit = "B",
                                             .formula = formula.symbols,
                                             .numbers = formula.numbers}));
    Worked& per_parameter = section.results.back();
    if (zero > 0) per_parameter.shown += fmt::format(", {:.1f}x less", table.state.total() / each);
    section.results.push_back(worked_bytes({.key = fmt::format("{}_zero{}", table.key, zero),
                                            .label = fmt::format("ZeRO {}, a GPU", zero),
                                            .value = parameters * each,
                                            .formula = input.tp == 1 ? "P * bytes" : "P/t * bytes",
                                            .numbers = fmt::format("{} * {}", held, plain(each))}));
  }
  return section;
}

std::string spare_text(double spare) {
  return spare >= 0 ? as_bytes(spare) + " to spare" : "too large by " + as_bytes(-spare);
}

// What the device holds at each stage; returns the first stage that fits, or kZeroStages.
int add_totals(const FitNumbers& input, double activations, Answer& answer) {
  const StateBytes state = engine_state(input.optimizer, input.compute);
  const int64_t shards = input.devices / input.tp;
  AnswerSection section{fmt::format("On {}", input.memory->what), {}};
  int first = kZeroStages;
  for (int zero = 0; zero < kZeroStages; ++zero) {
    const double held =
        input.parameters / static_cast<double>(input.tp) * bytes_per_parameter(state, zero, shards);
    const double spare = input.memory->bytes - held - activations;
    if (spare >= 0 && first == kZeroStages) first = zero;
    Worked total = worked_bytes(
        {.key = fmt::format("total_zero{}", zero),
         .label = fmt::format("ZeRO {}", zero),
         .value = held + activations,
         .formula = input.shape ? "state + activations" : "state",
         .numbers = input.shape ? fmt::format("{} + {}", as_bytes(held), as_bytes(activations)) : ""});
    total.shown += ": " + spare_text(spare);
    section.results.push_back(std::move(total));
  }
  answer.sections.push_back(std::move(section));
  return first;
}

constexpr int kGradientsCut = 2;  // the first stage that divides them

// A sentence: what fits, or what would.
std::string verdict(const FitNumbers& input, double activations, int first) {
  const std::string what =
      input.shape ? "" : " (activations are not counted: give --seq, --micro, --width, --layers and --heads)";
  if (first == 0) return fmt::format("Fits as it is, with nothing divided{}.", what);
  if (first < kZeroStages)
    return fmt::format("Fits from ZeRO {} on{}{}.", first, what,
                       first < kGradientsCut ? ""
                                             : "; of several micro-batches a step, with "
                                               "parallel.reduce_each_micro_batch = true");
  if (input.memory->of_node)
    return fmt::format("Does not fit at any stage{}; the ranks of a node share its memory: use more nodes.",
                       what);
  const double room = input.memory->bytes - activations;
  if (room > 0) {
    const double all = input.parameters * engine_state(input.optimizer, input.compute).total();
    const double shards = std::floor(all / static_cast<double>(input.tp) / room) + 1;
    return fmt::format("Does not fit at any stage; at ZeRO 3 it would on {:.0f} GPUs{}.",
                       shards * static_cast<double>(input.tp), what);
  }
  const double least = activation_bytes(*input.shape, Saved::inputs);
  return fmt::format(
      "Does not fit: the activations alone are {} of {}; recompute (all of it: {}), a smaller micro-batch or "
      "more tensor-parallel ranks make them less.",
      as_bytes(activations), as_bytes(input.memory->bytes), as_bytes(least));
}

}  // namespace

Answer fit_numbers(const FitNumbers& input) {
  CHECK(input.devices % input.tp == 0, "{} devices, tp = {}", input.devices, input.tp);
  const StateBytes engine = engine_state(input.optimizer, input.compute);
  const int64_t shards = input.devices / input.tp;
  Answer answer;
  answer.sections.push_back(state_section(
      input,
      {"published",
       fmt::format(
           "State as published, {} B a parameter: bf16 copy 2, bf16 gradient 2, fp32 master 4, Adam 8; "
           "N = {} (Rajbhandari et al. 2020)",
           plain(published_state().total()), shards),
       published_state()}));
  answer.sections.push_back(state_section(
      input, {"trireme",
              fmt::format("State as Trireme has it, {} B a parameter: compute copy {}, gradient {}, master "
                          "{}, moments {}; N = {}",
                          plain(engine.total()), plain(engine.compute_copy), plain(engine.gradient),
                          plain(engine.master), plain(engine.moments), shards),
              engine}));
  double activations = 0;
  if (input.shape) {
    answer.sections.push_back(
        {"Saved activations of one micro-batch a GPU (Korthikanti et al. 2022, table 2)",
         worked_activations(*input.shape)});
    activations = activation_bytes(*input.shape, input.saved);
    answer.notes.push_back(
        "The activation formulas are for a GPT layer with 4h hidden units, dropout and 16-bit activations; "
        "Trireme never keeps scores. `trireme fit CONFIG` counts those of a model to the byte.");
  }
  if (input.memory) {
    const int first = add_totals(input, activations, answer);
    answer.notes.insert(answer.notes.begin(), verdict(input, activations, first));
  }
  return answer;
}

}  // namespace trireme
