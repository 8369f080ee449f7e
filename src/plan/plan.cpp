// Compile, simulate, add up.
#include "plan/plan.h"

#include <algorithm>

#include "base/error.h"
#include "compile/flops_report.h"
#include "model/flops.h"
#include "sim/rates.h"

namespace trireme {
const RankMemory& Plan::fullest() const {
  return *std::max_element(memory.begin(), memory.end(), [](const RankMemory& a, const RankMemory& b) {
    return a.arena_bytes < b.arena_bytes;
  });
}

int64_t Plan::missing_bytes() const { return fullest().arena_bytes - room_bytes(); }
double Plan::tokens_per_s() const { return static_cast<double>(tokens_per_step(spec)) / step_s(); }
double Plan::mfu() const { return model_flops / step_s() / peak_flops_per_s; }
double Plan::hfu() const { return executed_flops / step_s() / peak_flops_per_s; }
double Plan::run_tokens() const {
  return static_cast<double>(tokens_per_step(spec)) * static_cast<double>(spec.run.steps);
}
double Plan::run_s() const { return step_s() * static_cast<double>(spec.run.steps); }
double Plan::device_hours() const { return run_s() / 3600 * static_cast<double>(devices); }

int64_t least_nodes(const Hardware& hardware, int64_t ranks) {
  if (hardware.kind == DeviceClass::cpu) return 1;
  return (ranks + hardware.devices_per_node - 1) / hardware.devices_per_node;
}

Plan make_plan(const RunSpec& spec, const Hardware& hardware, int64_t nodes) {
  Plan plan;
  plan.spec = spec;
  plan.cluster = cluster_of(hardware, all_ranks(spec), nodes);
  const bool part_of_one = nodes == 1 && hardware.kind == DeviceClass::gpu;
  plan.devices = part_of_one ? all_ranks(spec) : nodes * hardware.devices_per_node;
  SimulationInput input{.programs = pipeline_programs(spec, compile_options(spec, plan.cluster)),
                        .cluster = plan.cluster};
  for (const Program& program : input.programs) {
    plan.memory.push_back(memory_of(program, hardware.overhead_bytes));
    const Timeline* train = find_timeline(program, input.timeline);
    CHECK(train != nullptr, "rank {} has no timeline {}", program.rank, input.timeline);
    plan.executed_flops +=
        static_cast<double>(program_flops(program, *train)) * program.mesh.ranks_per_stage();
  }
  const Model model = build_model(spec.model, {.batch = 1, .seq_len = spec.data.seq_len});
  plan.parameters = parameter_count(model);
  plan.model_flops =
      flops_per_token(spec.model, model, spec.data.seq_len) * static_cast<double>(tokens_per_step(spec));
  plan.peak_flops_per_s = peak_flops_of(spec, plan.cluster);
  if (plan.peak_flops_per_s <= 0)
    fail_user("precision.compute = \"{}\": {} has no peak of that dtype; use another, or give it in the file",
              name_of_value(spec.precision.compute), hardware.name);
  plan.step = simulate_step(input);
  return plan;
}

}  // namespace trireme
