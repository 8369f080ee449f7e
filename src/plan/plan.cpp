// Compile, simulate, add up.
#include "plan/plan.h"

#include <algorithm>

#include "base/error.h"
#include "compile/flops_report.h"
#include "model/flops.h"
#include "plan/calculators/worked.h"
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
double Plan::run_hours() const { return step_s() * static_cast<double>(spec.run.steps) / kHour_s; }
double Plan::device_hours() const { return run_hours() * static_cast<double>(devices); }

int64_t rented_devices(const Hardware& hardware, int64_t ranks, int64_t nodes) {
  const bool part_of_one = nodes == 1 && hardware.kind == DeviceClass::gpu;
  return part_of_one ? ranks : nodes * hardware.devices_per_node;
}

int64_t least_nodes(const Hardware& hardware, int64_t ranks) {
  if (hardware.kind == DeviceClass::cpu) return 1;
  const int64_t least = (ranks + hardware.devices_per_node - 1) / hardware.devices_per_node;
  for (int64_t nodes = least; nodes < 2 * least; ++nodes)
    if (ranks % nodes == 0) return nodes;
  return least;
}

Plan make_plan(const RunSpec& spec, const Hardware& hardware, int64_t nodes) {
  Plan plan;
  plan.spec = spec;
  plan.cluster = cluster_of(hardware, all_ranks(spec), nodes);
  plan.devices = rented_devices(hardware, all_ranks(spec), nodes);
  SimulationInput input{.programs = pipeline_programs(spec, compile_options(spec, plan.cluster)),
                        .cluster = plan.cluster};
  for (size_t p = 0; p < input.programs.size(); ++p) {
    const Program& program = input.programs[p];
    plan.memory.push_back(memory_of(program, hardware.overhead_bytes));
    plan.executed_flops +=
        static_cast<double>(program_flops(program, timeline_of(input, p))) * program.mesh.ranks_per_stage();
  }
  const Model model = whole_model(spec);
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
