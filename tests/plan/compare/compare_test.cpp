// Runs that are made up from a prediction: the same, and with one thing off that must be found.
#include "plan/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/machine.h"

namespace trireme {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Predicted {
  Hardware hardware = round_hardware();
  RunSpec spec;
  SimulationInput input;
  StepSimulation step;

  explicit Predicted(const std::string& parallel) {
    spec = parse_config(
        fmt::format(
            "[model]\nfamily = \"llama\"\nlayers = 4\nwidth = 256\nheads = 8\nvocab = 512\ncontext = 128\n"
            "[data]\ntrain = [\"none\"]\nseq_len = 128\n[batch]\nmicro = 1\nsequences = 8\n[parallel]\n{}\n"
            "[optimizer]\nlr = 1e-3\n[run]\nname = \"a\"\nsteps = 10\n",
            parallel),
        "test");
    input.cluster = cluster_on(hardware, all_ranks(spec), 1);
    input.programs = pipeline_programs(spec, compile_options(spec, input.cluster));
    step = simulate_step(input);
  }
  Predicted(const Predicted&) = delete;

  // What rank 0 waits for is as predicted.
  RunRecord run(double step_s, double stall_s = 0) const {
    const SimRank& first = step.ranks[0];
    const double waits = first.part(TimePart::pp) + first.part(TimePart::dp) + first.part(TimePart::bubble);
    RunRecord run;
    for (int64_t i = 1; i <= 5; ++i)
      run.steps.push_back({.step = i, .step_s = step_s, .loader_stall_s = stall_s, .exposed_comm_s = waits});
    run.first_steps = {1};
    run.arena_bytes = input.programs[0].memory.arena_bytes;
    return run;
  }
  Comparison against(const RunRecord& run, const std::map<int64_t, StepTotals>& traced = {}) const {
    return compare(spec, {input, step}, run, traced);
  }
  // Every rank of the run, each as its stage is predicted.
  std::vector<RankEvents> trace() const {
    std::vector<RankEvents> all;
    for (const RankEvents& stage : events_of(input, step))
      for (int32_t i = 0; i < stage.stands_for; ++i) all.push_back({stage.rank + i, 1, stage.events});
    return all;
  }
};

double sum_of(const Comparison& comparison) {
  return std::accumulate(comparison.off.begin(), comparison.off.end(), 0.0,
                         [](double sum, const Off& off) { return sum + off.seconds; });
}

TEST(Compare, ARunAsPredicted) {
  const Predicted predicted("pp = 2");
  const Comparison same = predicted.against(predicted.run(predicted.step.step_s));
  EXPECT_THAT(same.verdict, HasSubstr("0.0 % above predicted: the prediction holds"));
  EXPECT_THAT(to_text(same), HasSubstr("equal\n"));
  for (const Off& off : same.off) EXPECT_NEAR(off.seconds, 0, 1e-9 * predicted.step.step_s) << off.text;
}

TEST(Compare, WithoutTracesComputeAndWaitsAreToldApart) {
  const Predicted predicted("pp = 2");
  const double step_s = predicted.step.step_s;
  const Comparison slow = predicted.against(predicted.run(1.5 * step_s));
  EXPECT_THAT(slow.verdict, HasSubstr("50.0 % above predicted; most off: compute on rank 0 took"));
  EXPECT_NEAR(sum_of(slow), 0.5 * step_s, 1e-9 * step_s);
  const Comparison stalled = predicted.against(predicted.run(1.4 * step_s, 0.4 * step_s));
  EXPECT_THAT(stalled.verdict, HasSubstr("most off: the loader stalled for"));
  EXPECT_NEAR(sum_of(stalled), 0.4 * step_s, 1e-9 * step_s);
}

TEST(Compare, MemoryNotRecorded) {
  const Predicted predicted("dp_shard = 2");
  RunRecord run = predicted.run(1);
  run.arena_bytes = {};
  EXPECT_THAT(to_text(predicted.against(run)), HasSubstr("not recorded"));
}

// Compute of these ranks takes `factor` times as long; nothing else moves, and the step grows by `more_s`.
std::map<int64_t, StepTotals> traced(std::vector<RankEvents> ranks, const std::vector<int32_t>& slow,
                                     double factor, double more_s) {
  for (RankEvents& rank : ranks)
    for (TimedEvent& event : rank.events) {
      if (event.row == "step") event.end_s += more_s;
      if (event.row == "compute" && std::ranges::count(slow, rank.rank) > 0)
        event.end_s = event.start_s + factor * (event.end_s - event.start_s);
    }
  return {{3, totals_of(ranks)}};
}

TEST(Compare, ATraceAsPredictedHasNothingOff) {
  const Predicted predicted("dp_shard = 2\ntp = 2\npp = 2");
  const double step_s = predicted.step.step_s;
  const Comparison same = predicted.against(predicted.run(step_s), traced(predicted.trace(), {}, 1, 0));
  for (const Off& off : same.off) EXPECT_NEAR(off.seconds, 0, 1e-9 * step_s) << off.text;
  EXPECT_THAT(to_text(same), HasSubstr("axis tp"));
}

TEST(Compare, WhatTracingItselfTakesIsALineOfItsOwn) {
  const Predicted predicted("dp_shard = 2");
  const double step_s = predicted.step.step_s;
  const Comparison slow =
      predicted.against(predicted.run(1.2 * step_s), traced(predicted.trace(), {0, 1}, 1.4, 0.5 * step_s));
  EXPECT_NEAR(sum_of(slow), 0.2 * step_s, 1e-9 * step_s);
  EXPECT_THAT(slow.off.back().text, HasSubstr("steps that are not traced take"));
  EXPECT_NEAR(slow.off.back().seconds, -0.3 * step_s, 1e-9 * step_s);
}

TEST(Compare, ASlowRankIsNamed) {
  const Predicted predicted("dp_shard = 4");
  const double step_s = predicted.step.step_s;
  const Comparison slow =
      predicted.against(predicted.run(2 * step_s), traced(predicted.trace(), {2}, 1.8, step_s));
  EXPECT_THAT(slow.verdict, HasSubstr("for rank 2, which took 1.80 times as long as the others to compute"));
  EXPECT_NEAR(sum_of(slow), step_s, 1e-9 * step_s);
}

TEST(Compare, SlowKernelsAreNamed) {
  const Predicted predicted("dp_shard = 4");
  const double step_s = predicted.step.step_s;
  const Comparison slow =
      predicted.against(predicted.run(2 * step_s), traced(predicted.trace(), {0, 1, 2, 3}, 2, step_s));
  EXPECT_THAT(slow.verdict, HasSubstr("most off: backward took"));
  EXPECT_THAT(slow.verdict, HasSubstr("it ran at 0.50 of the rates in round"));
  EXPECT_THAT(to_text(slow), Not(HasSubstr("for rank")));
}

}  // namespace
}  // namespace trireme
