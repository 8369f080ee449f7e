// Sums over hand-made traces.
#include "plan/compare/step_totals.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

using Sums = std::map<std::string, double>;

RankEvents rank_of(int32_t rank, std::vector<TimedEvent> events, int64_t stands_for = 1) {
  events.push_back({"step", "step", 0, 100});
  return {rank, stands_for, std::move(events)};
}

TEST(StepTotals, ComputeByPartAsMeansOverRanks) {
  const StepTotals totals = totals_of({rank_of(0,
                                               {{"compute", "load mb 0", 0, 1},
                                                {"compute", "unshard layers.0/unshard", 1, 3},
                                                {"compute", "forward layers.0 mb 0", 3, 13},
                                                {"compute", "backward layers.0 mb 0", 20, 40},
                                                {"compute", "norm_partial layers.0/norm", 41, 42},
                                                {"compute", "optimizer layers.0/optimizer", 42, 45}},
                                               3),
                                       rank_of(1, {{"compute", "backward_input layers.1 mb 0", 0, 6},
                                                   {"compute", "backward_weight layers.1 mb 0", 6, 8}})});
  EXPECT_EQ(totals.compute, (Sums{{"loading", 0.75},
                                  {"weights laid out, sums", 1.5},
                                  {"forward", 7.5},
                                  {"backward", 15 + 2},
                                  {"norm and update", 3}}));
  EXPECT_EQ(totals.step_s, 100);
  EXPECT_EQ(totals.waits_s, 0.75 * (100 - 37) + 0.25 * (100 - 8));
  EXPECT_EQ(totals.busy_s, (std::map<int32_t, double>{{0, 30}, {1, 8}}));
}

TEST(StepTotals, AMoveCountsWhereItWaitsForNobody) {
  const StepTotals totals = totals_of(
      {rank_of(0, {{"comm", "reduce_grad layers.0/grad", 0, 10}, {"comm", "gather_norm norm", 50, 51}}),
       rank_of(1, {{"comm", "reduce_grad layers.0/grad", 7, 10}, {"comm", "gather_norm norm", 40, 51}}),
       rank_of(2, {{"comm", "reduce_grad layers.1/grad", 0, 5}})});
  EXPECT_EQ(totals.moves, (Sums{{"reduce_grad", 3 + 5}, {"gather_norm", 1}}));
}

TEST(StepTotals, MessagesByTheirPlaceInTheirLinksOrder) {
  // Two links; on the first, two messages, which the receiver asks for early.
  const StepTotals totals = totals_of(
      {rank_of(0, {{"p2p 0>2", "send_act act/1 mb 0", 5, 6}, {"p2p 0>2", "send_act act/1 mb 1", 8, 10}}),
       rank_of(2, {{"p2p 0>2", "recv_act in mb 0", 0, 6}, {"p2p 0>2", "recv_act in mb 1", 6, 10}}),
       rank_of(1, {{"p2p 1>3", "send_act act/1 mb 0", 0, 1}}),
       rank_of(3, {{"p2p 1>3", "recv_act in mb 0", 0, 1}})});
  EXPECT_EQ(totals.moves, (Sums{{"activations", (3 + 1) / 2.0}}));
}

TEST(StepTotals, AxesInsideBlocksAreNotTheRanksOwnWork) {
  const std::string call = "all_gather in forward layers.0 mb 0";
  const StepTotals totals = totals_of({rank_of(0, {{"compute", "forward layers.0 mb 0", 0, 20},
                                                   {"axis tp", call, 1, 3},
                                                   {"axis tp", call, 5, 9}}),
                                       rank_of(1, {{"compute", "forward layers.0 mb 0", 0, 20},
                                                   {"axis tp", call, 0, 3},
                                                   {"axis tp", call, 7, 9}})});
  EXPECT_EQ(totals.moves, (Sums{{"axis tp", 2 + 2}}));
  EXPECT_EQ(totals.busy_s.at(0), 14);
  EXPECT_EQ(totals.busy_s.at(1), 15);
}

TEST(ReadTrace, ByRankAndRow) {
  const std::vector<RankEvents> ranks = read_trace(R"({"traceEvents":[
    {"ph":"M","name":"thread_name","pid":4,"tid":1,"args":{"name":"compute"}},
    {"ph":"X","name":"forward layers.0 mb 1","cat":"compute","pid":4,"tid":1,"ts":1000000,"dur":500000}]})");
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].rank, 4);
  ASSERT_EQ(ranks[0].events.size(), 1u);
  EXPECT_EQ(ranks[0].events[0].row, "compute");
  EXPECT_EQ(ranks[0].events[0].name, "forward layers.0 mb 1");
  EXPECT_EQ(ranks[0].events[0].start_s, 1);
  EXPECT_EQ(ranks[0].events[0].end_s, 1.5);
}

TEST(ReadTrace, NoTraceIsEmpty) {
  for (const char* text : {"", "{", "[]", "{\"traceEvents\":3}", "{\"traceEvents\":[3]}",
                           R"({"traceEvents":[{"ph":"X","name":"a","pid":"x"}]})"})
    EXPECT_TRUE(read_trace(text).empty()) << text;
}

}  // namespace
}  // namespace trireme
