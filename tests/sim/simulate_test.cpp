// Steps replayed on a machine with round numbers, against sums of their parts.
#include "sim/simulate.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/small_run.h"

namespace trireme {
namespace {

RunSpec spec_of(const std::string& parallel) { return small_run(parallel, {.layers = 4, .sequences = 8}); }

struct Setting {
  Hardware hardware = round_hardware();
  Disturbance disturbance;
  int64_t per_node = 8;
};

StepSimulation simulate(const std::string& parallel, const Setting& setting = {}) {
  const RunSpec spec = spec_of(parallel);
  const Cluster cluster = cluster_on(setting.hardware, setting.per_node, 1);
  return simulate_step({.programs = pipeline_programs(spec, compile_options(spec, cluster)),
                        .cluster = cluster,
                        .disturbance = setting.disturbance});
}

double sum_of_parts(const SimRank& rank) {
  return std::accumulate(rank.parts.begin(), rank.parts.end(), 0.0);
}

TEST(SimulateStep, OneRankTakesTheSumOfItsActions) {
  const RunSpec spec = spec_of("");
  const Hardware hardware = round_hardware();
  const Cluster cluster = cluster_on(hardware, 1, 1);
  const Program program = compile(spec, compile_options(spec, cluster)).program;
  double sum = 0;
  for (const ActionPrice& action : price(program, *find_timeline(program, "train"), cluster))
    sum += action.total_s();
  EXPECT_NEAR(simulate("", {.per_node = 1}).step_s, sum, 1e-9 * sum);
}

TEST(SimulateStep, PartsAddUpToTheStepOnEveryRank) {
  Setting setting;
  setting.hardware.kernels.communication = 0.1;
  setting.hardware.inside.latency_s = 1e-6;
  for (const char* parallel :
       {"dp_replicate = 2", "dp_shard = 2", "dp_shard = 4\nzero = 3", "tp = 2", "cp = 2", "pp = 2",
        "pp = 4\nschedule = \"zb_h1\"", "pp = 2\nschedule = \"dualpipev\"\ndp_shard = 2",
        "tp = 2\ntp_chunks = 2",
        "pp = 2\nschedule = \"interleaved\"\nvirtual_stages = 2\ntp = 2\ndp_shard = 2\nzero = 2"}) {
    const StepSimulation step = simulate(parallel, setting);
    for (const SimRank& rank : step.ranks)
      EXPECT_NEAR(sum_of_parts(rank), step.step_s, 1e-9 * step.step_s) << parallel << ", rank " << rank.rank;
  }
}

TEST(SimulateStep, CommunicationIsExposedWhereNothingCoversIt) {
  Setting slow;
  slow.hardware.inside.bytes_per_s = 1e8;
  const double alone = simulate("dp_shard = 2\nzero = 3").step_s;
  const StepSimulation step = simulate("dp_shard = 2\nzero = 3", slow);
  EXPECT_GT(step.ranks[0].part(TimePart::dp), 0.5 * (step.step_s - alone));
  EXPECT_EQ(step.ranks[0].part(TimePart::tp), 0);
  const StepSimulation tensor = simulate("tp = 2", slow);
  EXPECT_GT(tensor.ranks[0].part(TimePart::tp), 0.5 * tensor.step_s);
}

TEST(SimulateStep, ASlowRankHoldsUpThoseThatMeetIt) {
  const StepSimulation even = simulate("dp_shard = 4");
  const StepSimulation slow = simulate("dp_shard = 4", {.disturbance = {.slow = {{2, 2.0}}}});
  ASSERT_EQ(slow.ranks.size(), 2u);
  EXPECT_NEAR(slow.step_s / even.step_s, 2.0, 0.1);
  EXPECT_GT(slow.ranks[1].part(TimePart::dp), 0.4 * slow.step_s) << "the others wait for it";
}

TEST(SimulateStep, SlowerLinksCostTheirShare) {
  Setting setting;
  const StepSimulation even = simulate("tp = 2", setting);
  setting.disturbance.inside_slower = 3;
  const StepSimulation slow = simulate("tp = 2", setting);
  EXPECT_NEAR(slow.ranks[0].part(TimePart::tp), 3 * even.ranks[0].part(TimePart::tp), 1e-3 * slow.step_s);
  EXPECT_NEAR(slow.ranks[0].part(TimePart::compute), even.ranks[0].part(TimePart::compute),
              1e-3 * slow.step_s);
}

TEST(SimulateStep, TwoRunsGiveTheSameNumbers) {
  EXPECT_EQ(simulate("pp = 2\ndp_shard = 4\nzero = 3").step_s,
            simulate("pp = 2\ndp_shard = 4\nzero = 3").step_s);
}

TEST(SimulateStep, ProgramsAreOfTheThreadsThatTheRunHas) {
  Hardware hardware = round_hardware();
  RunSpec spec = spec_of("dp_shard = 2");
  Cluster cluster = cluster_on(hardware, 2, 1);
  cluster.share.threads = 4;
  EXPECT_EQ(compile_options(spec, cluster).threads, 4);
  spec.run.threads = 2;
  EXPECT_EQ(compile_options(spec, cluster).threads, 4) << "a gpu's kernels do not ask";
  hardware.kind = DeviceClass::cpu;
  EXPECT_EQ(compile_options(spec, cluster).threads, 1);
  spec.run.threads = 1;
  EXPECT_EQ(compile_options(spec, cluster).threads, 1);
  spec.run.threads.reset();
  EXPECT_EQ(compile_options(spec, cluster).threads, 4);
}

}  // namespace
}  // namespace trireme
