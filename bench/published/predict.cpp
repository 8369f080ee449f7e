// A row's step by the simulator, in the row's own measure.
#include <algorithm>
#include <cmath>

#include "hardware/catalog.h"
#include "model/flops.h"
#include "rows.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

struct Step {
  RunSpec spec;
  double seconds = 0;
  int64_t arena_bytes = 0;
};

Step step_of(const PublishedRow& row, Again again) {
  Step step;
  step.spec = parse_config(config_of(row, again), row.name);
  const Hardware hardware = load_hardware(row.hardware, row.assumptions);
  const int64_t ranks = all_ranks(step.spec), devices = hardware.devices_per_node;
  const Cluster cluster = cluster_of(hardware, ranks, (ranks + devices - 1) / devices);
  std::vector<Program> programs = pipeline_programs(step.spec, compile_options(step.spec, cluster));
  for (const Program& program : programs)
    step.arena_bytes = std::max(step.arena_bytes, program.memory.arena_bytes);
  step.seconds = simulate_step({.programs = std::move(programs), .cluster = cluster}).step_s;
  return step;
}

double executed_flops(const RunSpec& spec) {
  const auto layers = static_cast<double>(spec.model.layers), width = static_cast<double>(spec.model.width);
  return 96 * layers * width * width *
         (1 + static_cast<double>(spec.data.seq_len) / (6 * width) +
          static_cast<double>(spec.model.vocab) / (16 * layers * width));
}

}  // namespace

PublishedSpeed predict(const PublishedRow& row) {
  Step step = step_of(row, row.again);
  if (row.again == Again::every_other) step.seconds = (step.seconds + step_of(row, Again::full).seconds) / 2;
  PublishedSpeed speed{
      .step_s = step.seconds, .ranks = all_ranks(step.spec), .arena_bytes = step.arena_bytes};
  const double tokens =
      static_cast<double>(tokens_per_step(step.spec)) / step.seconds / static_cast<double>(speed.ranks);
  const int64_t seq_len = step.spec.data.seq_len;
  const Model model = build_model(step.spec.model, {.seq_len = seq_len});
  speed.predicted = row.speed == Speed::tokens ? tokens
                    : row.speed == Speed::executed_tflops
                        ? tokens * executed_flops(step.spec) / 1e12
                        : tokens * flops_per_token(step.spec.model, model, seq_len) / 1e12;
  return speed;
}

HeldOutErrors held_out_errors(const std::vector<PublishedRow>& rows,
                              const std::vector<PublishedSpeed>& speeds) {
  std::vector<double> errors;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].use == RowUse::held_out) errors.push_back(std::abs(speeds[i].error(rows[i])));
  std::ranges::sort(errors);
  const size_t n = errors.size();
  return {n % 2 == 1 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2, errors.back()};
}

}  // namespace trireme
