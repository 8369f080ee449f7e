// Actions and their times become rows and spans; a file is written when all ranks of the process are there.
#include "train/step_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scratch_folder.h"

namespace trireme {
namespace {

using test::ScratchFolder;
using test::slurp;
namespace fs = std::filesystem;

// A stage that receives, computes and sends.
Program program_of_a_stage() {
  Program program;
  program.comms = {{"pp", 3, {0, 1, 2}}, {"0>1", 4, {0, 1}}, {"1>2", 4, {1, 2}}};
  program.units = {{.name = "layers.1", .code = {}, .bound = {}}};
  program.memory.buffers.resize(2);
  program.memory.buffers[0].name = "act/1";
  program.memory.buffers[1].name = "act/2";
  const auto transfer = [](CommOp op, int64_t comm, int64_t buffer) {
    Transfer moved{.op = op, .comm = CommId(comm), .from = {}, .to = {}};
    (op == CommOp::send ? moved.from : moved.to).buffer = BufferId(buffer);
    return moved;
  };
  Timeline timeline{.name = "train", .micro_batches = 1, .actions = std::vector<Action>(4)};
  timeline.actions[0] = {.kind = ActionKind::recv_act, .micro_batch = 0, .stream = Stream::p2p};
  timeline.actions[0].transfers = {transfer(CommOp::recv, 1, 0)};
  timeline.actions[1] = {.kind = ActionKind::forward, .unit = UnitId(0), .micro_batch = 0};
  timeline.actions[2] = {.kind = ActionKind::send_act, .micro_batch = 0, .stream = Stream::p2p};
  timeline.actions[2].transfers = {transfer(CommOp::send, 2, 1)};
  timeline.actions[3] = {.kind = ActionKind::reduce_loss, .stream = Stream::comm};
  timeline.actions[3].transfers = {transfer(CommOp::all_reduce, 0, 0)};
  program.timelines.push_back(timeline);
  return program;
}

const ActionTime kTimes[] = {{10.5, 11}, {11, 12}, {12, 12.25}, {12.5, 13}};

RankTrace trace_of_rank(int32_t rank, double start_s) {
  const Program program = program_of_a_stage();
  return trace_of(program, program.timelines[0], {rank, start_s, 14}, kTimes);
}

TEST(StepTrace, NamesRowsAndTimes) {
  const RankTrace trace = trace_of_rank(1, 10);
  std::string text;
  for (const TraceSpan& span : trace.spans)
    text += fmt::format("{} | {} | {} {}\n", span.name, trace.rows.at(span.stream), span.start_us,
                        span.duration_us);
  EXPECT_EQ(text,
            "step | step | 0 4000000\n"
            "recv_act act/1 mb 0 | p2p 0>1 | 500000 500000\n"
            "forward layers.1 mb 0 | compute | 1000000 1000000\n"
            "send_act act/2 mb 0 | p2p 1>2 | 2000000 250000\n"
            "reduce_loss act/1 | comm | 2500000 500000\n");
  EXPECT_EQ(trace.rows.size(), 5u);
}

TEST(StepTrace, TheLastRankWritesTheFile) {
  const ScratchFolder folder;
  StepTraces traces(folder / "traces", {.first = 0, .count = 2});
  traces.add(5, trace_of_rank(1, 10));
  EXPECT_FALSE(fs::exists(folder / "traces"));
  traces.add(6, trace_of_rank(1, 10));
  traces.add(5, trace_of_rank(0, 9.5));
  const auto json = nlohmann::json::parse(slurp(folder / "traces/step-00000005.json"));
  EXPECT_FALSE(fs::exists(folder / "traces/step-00000006.json"));
  // Both from the start of rank 0, which came first.
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] == "forward layers.1 mb 0") {
      EXPECT_EQ(event["ts"].get<double>(), 1.5e6) << event;
    }
  }
  EXPECT_EQ(json["traceEvents"].size(), 2u * (1 + 5 + 5));
}

TEST(StepTrace, AnotherProcessHasAFileOfItsOwn) {
  const ScratchFolder folder;
  StepTraces traces(folder.path(), {.first = 8, .count = 1});
  traces.add(12, trace_of_rank(8, 10));
  EXPECT_TRUE(fs::exists(folder / "step-00000012.rank-8.json"));
}

}  // namespace
}  // namespace trireme
