// Actions and their times become rows and spans; a file is written when all ranks of the process are there.
#include "train/step_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compile/stage_program.h"
#include "scratch_folder.h"

namespace trireme {
namespace {

using test::ScratchFolder;
using test::slurp;
namespace fs = std::filesystem;

const ActionTime kTimes[] = {{10.5, 11}, {11, 12}, {12, 12.25}, {12.5, 13}};

RankTrace trace_of_rank(int32_t rank, double start_s) {
  const Program program = test::stage_program();
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
