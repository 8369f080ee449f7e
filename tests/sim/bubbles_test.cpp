// Every schedule on a machine whose links cost nothing, with equal stages: who waits how long, and how many
// activations are held, against the schedule in whole steps (schedule/simulate.h), which is what the walk on
// the null device is held against (tests/engine/pipeline_engine_test.cpp).
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "schedule/catalog.h"
#include "schedule/simulate.h"
#include "sim/activations.h"
#include "sim/machine.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

constexpr int32_t kRanks = 4, kMicroBatches = 8;

struct Pipeline {
  Schedule schedule;
  RunSpec spec;
};

// A layer per stage, so large beside embedding and head that these hardly count.
Pipeline pipeline_of(const ScheduleDef& def) {
  const int32_t virtual_stages = def.least_stages_per_rank;
  Pipeline made{make_schedule(def.name, {kRanks, virtual_stages, kMicroBatches}), {}};
  const int32_t stages = made.schedule.placement.stages();
  const std::vector<int> one_layer_each(static_cast<size_t>(stages), 1);
  made.spec = parse_config(
      fmt::format(
          "[model]\nfamily = \"gpt2\"\nlayers = {}\nwidth = 1024\nheads = 8\nvocab = 2\ncontext = 32\n"
          "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = 1\n"
          "[parallel]\npp = {}\nschedule = \"{}\"\nvirtual_stages = {}\nstages = [{}]\n"
          "[optimizer]\nlr = 1e-4\n[run]\nname = \"t\"\nsteps = 10\n",
          stages, kMicroBatches, kRanks, def.name, virtual_stages, fmt::join(one_layer_each, ", ")),
      "bubble");
  return made;
}

// Products alone take time.
Hardware free_links() {
  Hardware hardware = round_hardware();
  hardware.memory_bytes_per_s = hardware.host_bytes_per_s = 1e30;
  hardware.inside = hardware.between = {.bytes_per_s = 1e30, .efficiency = 1, .latency_s = 0};
  hardware.kernels = {};
  return hardware;
}

// Of a layer, in 1e-6 of what its whole backward takes.
StepCosts costs_of(const Program& program, const Cluster& cluster) {
  const Timeline& train = *find_timeline(program, "train");
  const std::vector<ActionPrice> prices = price(program, train, cluster);
  double forward = 0, input = 0, weight = 0, whole = 0;
  for (size_t i = 0; i < prices.size(); ++i) {
    const Action& action = train.actions[i];
    if (!action.unit.valid() || !program.unit(action.unit).name.starts_with("layers.")) continue;
    if (action.kind == ActionKind::forward) forward = prices[i].total_s();
    if (action.kind == ActionKind::backward_input) input = prices[i].total_s();
    if (action.kind == ActionKind::backward_weight) weight = prices[i].total_s();
    if (action.kind == ActionKind::backward) whole = prices[i].total_s();
  }
  if (whole == 0) whole = input + weight;
  if (weight == 0) input = whole;
  const auto units = [&](double seconds) { return std::llround(1e6 * seconds / whole); };
  return {.forward = units(forward), .input = units(input), .weight = units(weight)};
}

// A program does one thing after the other, so the second of a pair waits for its own need alone: DualPipe's
// bubble is less than that of its pairs, which both wait for both.
Schedule without_pairs(Schedule schedule) {
  for (auto& rows : schedule.table)
    for (ScheduleStep& row : rows) row.with_next = false;
  return schedule;
}

TEST(SimulatedSchedules, BubblesAndActivationsAreThoseOfTheSchedule) {
  const Hardware hardware = free_links();
  for (const ScheduleDef& def : schedules()) {
    SCOPED_TRACE(def.name);
    const Pipeline pipeline = pipeline_of(def);
    const Cluster cluster = cluster_on(hardware, kRanks, 1);
    const SimulationInput input{
        pipeline_programs(pipeline.spec, compile_options(pipeline.spec, cluster)), cluster, "train", {}};
    const StepSimulation step = simulate_step(input);
    const StepCosts costs = costs_of(input.programs[1], cluster);
    const Simulation expected = simulate(without_pairs(pipeline.schedule), costs);
    ASSERT_EQ(expected.deadlock, "");
    EXPECT_LE(expected.length, simulate(pipeline.schedule, costs).length);
    ASSERT_EQ(step.ranks.size(), static_cast<size_t>(kRanks));
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      const SimRank& simulated = step.ranks[static_cast<size_t>(rank)];
      const double share = simulated.part(TimePart::bubble) / step.step_s;
      const double expected_share =
          static_cast<double>(expected.bubble(rank)) / static_cast<double>(expected.length);
      EXPECT_NEAR(share, expected_share, 2e-4) << "rank " << rank;
      const Program& program = input.programs[static_cast<size_t>(rank)];
      EXPECT_EQ(activation_peak(program, *find_timeline(program, "train")).layers,
                expected.ranks[static_cast<size_t>(rank)].most_stored)
          << "rank " << rank;
    }
  }
}

// A stage that has no layer, only the head, has micro-batches under way as well.
TEST(ActivationPeak, MicroBatchesOfEveryBlock) {
  const RunSpec spec = parse_config(
      "[model]\nfamily = \"gpt2\"\nlayers = 2\nwidth = 32\nheads = 2\nvocab = 65\ncontext = 16\n"
      "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 8\nmicro = 1\n"
      "[parallel]\npp = 3\nschedule = \"1f1b\"\nstages = [1, 1, 0]\n"
      "[optimizer]\nlr = 1e-4\n[run]\nname = \"t\"\nsteps = 10\n",
      "peak");
  const Hardware hardware = free_links();
  std::vector<int64_t> micro_batches, layers;
  for (const Program& program : pipeline_programs(spec, compile_options(spec, cluster_on(hardware, 3, 1)))) {
    const ActivationPeak peak = activation_peak(program, *find_timeline(program, "train"));
    micro_batches.push_back(peak.micro_batches);
    layers.push_back(peak.layers);
  }
  EXPECT_EQ(micro_batches, (std::vector<int64_t>{3, 2, 1}));
  EXPECT_EQ(layers, (std::vector<int64_t>{3, 2, 0}));
}

}  // namespace
}  // namespace trireme
