// A predicted trace has the rows and names of a measured one.
#include "sim/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compile/stage_program.h"
#include "scratch_folder.h"
#include "sim/axis_calls.h"
#include "sim/small_run.h"

namespace trireme {
namespace {

using test::ScratchFolder;
using test::slurp;

SimulationInput one_stage_input() {
  SimulationInput input;
  input.programs = {test::stage_program()};
  return input;
}

StepSimulation step_of_rank_1() {
  SimRank rank{.rank = 1, .stands_for = 512};
  rank.spans = {{0, 0.5, 1, 0.75}, {1, 1, 2, 1}, {2, 2, 2.25, 2}, {3, 2.5, 3, 2.5}};
  return {4, {rank}};
}

TEST(SimulatedTrace, NamesRowsAndTimes) {
  const ScratchFolder folder;
  write_trace(folder / "new/step.json", one_stage_input(), step_of_rank_1());
  const auto json = nlohmann::json::parse(slurp(folder / "new/step.json"));
  std::map<int64_t, std::string> rows;
  std::string text;
  for (const auto& event : json["traceEvents"]) {
    EXPECT_EQ(event["pid"], 1);
    if (event["name"] == "thread_name") rows[event["tid"]] = event["args"]["name"];
    if (event["name"] == "process_name") text += std::string(event["args"]["name"]) + "\n";
    if (event["ph"] == "X")
      text += fmt::format("{} | {} | {} {} | {}\n", std::string(event["name"]), rows.at(event["tid"]),
                          double(event["ts"]), double(event["dur"]),
                          event.value("args", nlohmann::json()).dump());
  }
  EXPECT_EQ(text,
            "rank 1, stands for 512\n"
            "step | step | 0 4000000 | null\n"
            "recv_act act/1 mb 0 | p2p 0>1 | 500000 500000 | {\"bytes\":0}\n"
            "forward layers.1 mb 0 | compute | 1000000 1000000 | null\n"
            "send_act act/2 mb 0 | p2p 1>2 | 2000000 250000 | {\"bytes\":40}\n"
            "reduce_loss act/1 | comm | 2500000 500000 | {\"bytes\":52}\n");
}

TEST(SimulatedTrace, BytesMoveOnceBothHaveCome) {
  const Hardware hardware = round_hardware();
  const SimulationInput input = input_of(small_run("pp = 2", {.sequences = 2}), hardware, 2);
  const StepSimulation step = simulate_step(input);
  // The first act that each rank moves: rank 1 asks at once, and waits for rank 0's forward.
  const auto first = [&](size_t rank, ActionKind kind) {
    for (const SimSpan& span : step.ranks[rank].spans)
      if (find_timeline(input.programs[rank], "train")->actions[span.action].kind == kind) return span;
    return SimSpan{};
  };
  const SimSpan sent = first(0, ActionKind::send_act), received = first(1, ActionKind::recv_act);
  EXPECT_LT(received.start_s, sent.start_s);
  EXPECT_EQ(received.moves_s, sent.start_s);
  EXPECT_EQ(sent.moves_s, sent.start_s);
  EXPECT_NEAR(received.end_s - received.moves_s, 128 * 256 * 2 / 1e10, 1e-12);
}

// A layer of two tp ranks gathers and scatters its rows twice in forward, and the same again in backward.
TEST(SimulatedTrace, OpsThatTalkOnAnAxisHaveItsRow) {
  const Hardware hardware = round_hardware();
  const SimulationInput input = input_of(small_run("tp = 2", {.layers = 1, .sequences = 1}), hardware, 2);
  const StepSimulation step = simulate_step(input);
  TraceSpan forward;
  std::vector<std::string> calls;
  double talk_us = 0;
  for (const TraceSpan& span : simulated_trace(input, step, step.ranks[0]).spans) {
    if (span.name == "forward layers.0 mb 0") forward = span;
    if (span.category != "axis" || !span.name.ends_with(" in forward layers.0 mb 0")) continue;
    calls.push_back(span.name.substr(0, span.name.find(' ')));
    talk_us += span.duration_us;
    EXPECT_GE(span.start_us, forward.start_us);
    EXPECT_LE(span.start_us + span.duration_us, forward.start_us + forward.duration_us + 1e-9);
    EXPECT_EQ(span.bytes, 128 * 256 * 2 / 2);
  }
  EXPECT_EQ(calls,
            (std::vector<std::string>{"all_gather", "reduce_scatter", "all_gather", "reduce_scatter"}));
  // The bytes at 10 GB/s; what a kernel of such an op does in memory is its own.
  EXPECT_GE(talk_us, 4 * 128 * 256 * 2 / 2 / 1e10 * 1e6);
  EXPECT_LT(talk_us, 0.9 * forward.duration_us);
}

// Shares of an action are of the threads that it is compiled for, which may be fewer than a rank's cores.
TEST(SimulatedTrace, OpsThatTalkTakeTheirShareOnTheProgramsThreads) {
  Hardware hardware = round_hardware();
  hardware.kind = DeviceClass::cpu;
  const SimulationInput input = input_of(small_run("tp = 2", {.layers = 1, .sequences = 1}), hardware, 2);
  ASSERT_EQ(input.programs[0].threads, 1);
  Cluster of_more_cores = input.cluster;
  of_more_cores.share.threads = 4;
  AxisCalls on_one(input.programs[0], input.cluster), on_four(input.programs[0], of_more_cores);
  size_t seen = 0;
  for (const Action& action : timeline_of(input, 0).actions) {
    const auto one = on_one.of(action), four = on_four.of(action);
    ASSERT_EQ(one.size(), four.size());
    for (size_t c = 0; c < one.size(); ++c, ++seen) EXPECT_EQ(one[c].end, four[c].end);
  }
  EXPECT_GT(seen, 0u);
}

TEST(SimulatedTrace, ASlowRankIsCalledSo) {
  EXPECT_EQ(process_name({.rank = 3, .slowdown = 1.3}), "rank 3, 1.3 times as slow");
  EXPECT_EQ(process_name({.rank = 0, .stands_for = 2, .slowdown = 2}),
            "rank 0, stands for 2, 2 times as slow");
}

TEST(SimulatedTrace, AFolderThatCannotBeMadeEndsIt) {
  EXPECT_THROW(write_trace("/proc/none/step.json", one_stage_input(), step_of_rank_1()), EnvError);
}

}  // namespace
}  // namespace trireme
