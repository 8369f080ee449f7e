// Bubbles and stored activations of every schedule against the published formulas, in whole units of time.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

struct Case {
  ScheduleInput input;
  StepCosts costs;
  int64_t p() const { return input.ranks; }
  int64_t v() const { return input.stages_per_rank; }
  int64_t F() const { return costs.forward; }
  int64_t B() const { return costs.input + costs.weight; }
  int64_t W() const { return costs.weight; }
  int64_t FB() const { return costs.pair.value_or(F() + B()); }
};

constexpr StepCosts kUnits[] = {{1, 1, 1, {}}, {2, 2, 1, {}}, {3, 3, 2, {}},
                                {3, 4, 2, {}}, {2, 2, 2, 5},  {4, 4, 3, 9}};

struct Worst {
  int64_t least_bubble = 1 << 30, bubble = 0, waits = 0;
  int32_t stored = 0;
};

// Of all ranks. `waits`: idle between a rank's first and last step.
Worst worst(std::string_view name, const Case& at) {
  const Simulation run = simulate(make_schedule(name, at.input), at.costs);
  EXPECT_EQ(run.deadlock, "");
  Worst result;
  for (int32_t rank = 0; rank < at.input.ranks; ++rank) {
    const RankTimes& times = run.ranks[static_cast<size_t>(rank)];
    result.least_bubble = std::min(result.least_bubble, run.bubble(rank));
    result.bubble = std::max(result.bubble, run.bubble(rank));
    result.waits = std::max(result.waits, times.last - times.first - times.busy);
    result.stored = std::max(result.stored, times.most_stored);
  }
  return result;
}

template <class Visit>
void for_cases(std::initializer_list<int32_t> ranks, std::initializer_list<int32_t> stages, Visit visit) {
  for (const int32_t p : ranks)
    for (const int32_t v : stages)
      for (const int32_t groups : {2, 3, 4})
        for (const StepCosts& costs : kUnits) {
          SCOPED_TRACE(fmt::format("p {} v {} M {} F {} I {} W {} pair {}", p, v, groups * p, costs.forward,
                                   costs.input, costs.weight, costs.pair.value_or(0)));
          visit(Case{{p, v, groups * p}, costs});
        }
}

TEST(ScheduleFormula, GPipe) {
  for_cases({1, 2, 3, 4, 8}, {1}, [](const Case& at) {
    const Worst got = worst("gpipe", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B()));
    EXPECT_EQ(got.least_bubble, got.bubble);
    EXPECT_EQ(got.stored, at.input.micro_batches);
  });
}

TEST(ScheduleFormula, OneForwardOneBackward) {
  for_cases({1, 2, 3, 4, 8}, {1}, [](const Case& at) {
    const Worst got = worst("1f1b", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B()));
    EXPECT_EQ(got.least_bubble, got.bubble);
    EXPECT_EQ(got.stored, at.p());
  });
}

// F and B are those of a stage, so the bubble is 1/v of that of 1F1B with stages v times as large.
TEST(ScheduleFormula, Interleaved) {
  for_cases({1, 2, 3, 4, 8}, {2, 3}, [](const Case& at) {
    const Worst got = worst("interleaved", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B()));
    EXPECT_EQ(got.stored, at.p() * (at.v() + 1) - 1);
    Case whole{{at.input.ranks, 1, at.input.micro_batches}, at.costs};
    for (int64_t* cost : {&whole.costs.forward, &whole.costs.input, &whole.costs.weight}) *cost *= at.v();
    EXPECT_EQ(got.bubble * at.v(), worst("1f1b", whole).bubble);
  });
}

TEST(ScheduleFormula, LoopedBreadthFirst) {
  for_cases({1, 2, 3, 4, 8}, {2, 3}, [](const Case& at) {
    const Worst got = worst("looped_bfs", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B()));
    EXPECT_EQ(got.stored, at.v() * at.input.micro_batches);
  });
}

TEST(ScheduleFormula, ZeroBubbleH1) {
  for_cases({1, 2, 3, 4, 8}, {1}, [](const Case& at) {
    const Worst got = worst("zb_h1", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B() - 2 * at.W()));
    EXPECT_EQ(got.least_bubble, got.bubble);
    EXPECT_EQ(got.stored, at.p());
  });
}

TEST(ScheduleFormula, InterleavedZeroBubble) {
  for_cases({1, 2, 3, 4, 8}, {2, 3}, [](const Case& at) {
    const Worst got = worst("interleaved_zb", at);
    EXPECT_EQ(got.bubble, (at.p() - 1) * (at.F() + at.B() - 2 * at.W()));
    EXPECT_EQ(got.stored, at.p() * at.v());
  });
}

// Ranks start one after the other and end likewise; in between none waits when all parts take the same time.
TEST(ScheduleFormula, ZeroBubbleV) {
  for_cases({1, 2, 3, 4, 8}, {2}, [](const Case& at) {
    const Worst got = worst("zbv", at);
    EXPECT_EQ(got.stored, 2 * at.p());
    if (at.F() == at.W() && at.B() == 2 * at.W()) {
      EXPECT_EQ(got.waits, 0);
      EXPECT_EQ(got.bubble, (at.p() - 1) * at.F());
    }
  });
}

// The formulas are for F = I. The bubble is that of the ends: the turning point runs one pair less at once.
TEST(ScheduleFormula, DualPipe) {
  for_cases({2, 4, 6, 8}, {1}, [](const Case& at) {
    const Worst got = worst("dualpipe", at);
    EXPECT_EQ(got.stored, at.p() + 1);
    if (at.F() == at.B() - at.W()) {
      EXPECT_EQ(got.bubble, (at.p() / 2 - 1) * (at.FB() + at.B() - 3 * at.W()));
    }
  });
}

TEST(ScheduleFormula, DualPipeV) {
  for_cases({1, 2, 3, 4, 8}, {2}, [](const Case& at) {
    const Worst got = worst("dualpipev", at);
    const int64_t stages = 2 * at.p();
    EXPECT_EQ(got.stored, stages + 1);
    if (at.F() == at.B() - at.W()) {
      EXPECT_EQ(got.bubble, (stages / 2 - 1) * (at.FB() + at.B() - 3 * at.W()));
    }
  });
}

}  // namespace
}  // namespace trireme
