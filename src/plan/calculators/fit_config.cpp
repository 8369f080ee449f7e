// The Programs' own memory plans, and the formulas beside them.
#include "plan/calculators/fit_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/memory_report.h"
#include "plan/calculators/token_flops.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

// Of the pipeline's ranks the one with the largest arena.
Program fullest_program(const RunSpec& spec, const CompileOptions& options) {
  std::vector<Program> programs = pipeline_programs(spec, options);
  return std::move(*std::ranges::max_element(
      programs, {}, [](const Program& program) { return program.memory.arena_bytes; }));
}

AnswerSection plan_section(const Program& program, double parameters) {
  AnswerSection section{
      fmt::format("What Trireme allocates on rank {}, the fullest: its plan at the fullest moment",
                  program.rank),
      {}};
  const MemoryMoment peak = memory_peak(program);
  const auto add = [&](std::string key, std::string label, int64_t bytes) {
    const auto value = static_cast<double>(bytes);
    Worked result = worked_bytes({.key = std::move(key), .label = std::move(label), .value = value});
    if (value > 0.01 * parameters) result.shown += fmt::format(", {:.3g} B a parameter", value / parameters);
    section.results.push_back(std::move(result));
  };
  for (int c = 0; c < kBufferClasses; ++c) {
    const int64_t bytes = peak.bytes[static_cast<size_t>(c)];
    const std::string name(name_of(static_cast<BufferClass>(c)));
    if (bytes > 0) add("memory_" + name, name, bytes);
  }
  add("memory_gaps", "gaps", program.memory.arena_bytes - peak.total());
  add("arena", "arena", program.memory.arena_bytes);
  return section;
}

ActivationShape shape_of(const RunSpec& spec) {
  return {.seq = spec.data.seq_len / spec.parallel.cp,
          .micro = spec.batch.micro,
          .width = spec.model.width,
          .layers = spec.model.layers,
          .heads = spec.model.heads,
          .tp = spec.parallel.tp,
          .sequence = spec.parallel.sequence && spec.parallel.tp > 1};
}

AnswerSection state_formulas(const RunSpec& spec, double parameters) {
  const StateBytes state = engine_state(spec.optimizer.kind, spec.precision.compute);
  const auto zero = static_cast<int>(spec.parallel.zero);
  const int64_t shards = spec.parallel.dp_shard;
  const double held = parameters / static_cast<double>(spec.parallel.tp * spec.parallel.pp);
  const StateFormula formula = state_formula(state, zero, shards);
  const double each = bytes_per_parameter(state, zero, shards);
  AnswerSection section{fmt::format("By formula: state at ZeRO {}, N = {}", zero, shards), {}};
  section.results.push_back(worked_number({.key = "state_per_parameter",
                                           .label = "bytes a parameter",
                                           .value = each,
                                           .unit = "B",
                                           .formula = formula.symbols,
                                           .numbers = formula.numbers}));
  section.results.push_back(
      worked_bytes({.key = "state",
                    .label = "state a rank",
                    .value = held * each,
                    .formula = "P/(tp*pp) * bytes",
                    .numbers = fmt::format("{}/({}*{}) * {}", plain(parameters), spec.parallel.tp,
                                           spec.parallel.pp, plain(each))}));
  return section;
}

}  // namespace

Answer fit_config(const RunSpec& spec, const CompileOptions& options,
                  const std::optional<DeviceMemory>& memory) {
  const Program program = fullest_program(spec, options);
  const auto parameters = static_cast<double>(parameter_count(whole_model(spec)));
  Answer answer;
  answer.sections.push_back(plan_section(program, parameters));
  if (memory) {
    const double spare = memory->bytes - static_cast<double>(program.memory.arena_bytes);
    Worked result =
        worked_bytes({.key = "spare",
                      .label = "to spare",
                      .value = spare,
                      .formula = "memory - arena",
                      .numbers = fmt::format("{} - {}", as_bytes(memory->bytes),
                                             as_bytes(static_cast<double>(program.memory.arena_bytes)))});
    answer.sections.push_back({fmt::format("On {}", memory->what), {std::move(result)}});
    answer.notes.push_back(
        spare >= 0 ? fmt::format("Fits, with {} to spare.", as_bytes(spare))
                   : fmt::format("Does not fit: too large by {}; `trireme plan` lists what would fit.",
                                 as_bytes(-spare)));
  }
  answer.sections.push_back(state_formulas(spec, parameters));
  answer.sections.push_back(
      {"By formula: saved activations of one micro-batch, all layers (Korthikanti et al. 2022, table 2)",
       worked_activations(shape_of(spec))});
  answer.notes.push_back(
      "The formulas know neither experts nor grouped heads, assume 4h hidden units and dropout, and count no "
      "scratch; the plan is what is allocated.");
  return answer;
}

}  // namespace trireme
