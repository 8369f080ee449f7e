// The search against trying everything, and what it says about its choice.
#include "plan/search.h"

#include <gtest/gtest.h>

#include "plan/cases.h"
#include "plan/nearest_fit.h"
#include "plan/reasons.h"
#include "plan/report.h"

namespace trireme {
namespace {

TEST(Search, ChoosesWhatTryingEverythingWouldChoose) {
  const RunSpec base = test::small_run();
  const Hardware machine = test::tight_machine();
  const SearchResult result = search(base, machine, {.ranks = 4, .nodes = 1, .threads = 2});
  ASSERT_NE(result.winner(), nullptr);
  double best_s = 1e9;
  size_t fit = 0;
  for (const auto& outcome :
       try_layouts(base, layouts(base, {.ranks = 4, .devices_per_node = 4}), machine, 1, 2)) {
    if (!outcome || !outcome->fits()) continue;
    ++fit;
    best_s = std::min(best_s, outcome->step_s);
  }
  ASSERT_GT(fit, 20U);
  EXPECT_LE(result.winner()->step_s, 1.02 * best_s);
  EXPECT_TRUE(result.winner()->fits());
}

TEST(Search, PutsWhatFitsFirstAndTheFastestOfItToTheTop) {
  const SearchResult result =
      search(test::small_run(), test::tight_machine(), {.ranks = 4, .nodes = 1, .threads = 2});
  for (size_t i = 2; i < result.tried.size(); ++i) {
    const Outcome &before = result.tried[i - 1], &here = result.tried[i];
    EXPECT_TRUE(before.fits() || !here.fits());
    if (before.fits() && here.fits() && i > 2) {
      EXPECT_LE(before.step_s, here.step_s);
    }
  }
}

TEST(Search, TakesTheSimplestOfEquals) {
  Hardware machine = test::small_machine(1000 * test::kMegabyte);
  machine.inside.bytes_per_s = 1e15;
  machine.inside.latency_s = 0;
  const SearchResult result = search(test::small_run(), machine, {.ranks = 2, .nodes = 1, .threads = 2});
  ASSERT_NE(result.winner(), nullptr);
  EXPECT_LE(rung_of(result.winner()->layout, 4), Rung::zero1) << text_of(result.winner()->layout);
}

TEST(Search, SaysSoWhenNothingFits) {
  const RunSpec base = test::small_run();
  const Hardware machine = test::small_machine(test::kMegabyte / 10);
  const SearchResult result = search(base, machine, {.ranks = 4, .nodes = 1, .threads = 2});
  EXPECT_EQ(result.winner(), nullptr);
  ASSERT_FALSE(result.tried.empty());
  const std::string text = search_text(result, base, cluster_of(machine, 4, 1));
  EXPECT_NE(text.find("nothing fits; the nearest"), std::string::npos) << text;
  EXPECT_TRUE(losers(result).empty());
}

TEST(Reasons, GoFromTheSimplestThatFitsToTheWinner) {
  const RunSpec base = test::small_run();
  const Hardware machine = test::tight_machine();
  const SearchResult result = search(base, machine, {.ranks = 4, .nodes = 1, .threads = 2});
  const std::vector<Reason> steps = steps_up(result, 4);
  ASSERT_GE(steps.size(), 4U);
  EXPECT_EQ(steps[0].step, "replicated");
  EXPECT_NE(steps[0].why.find("does not fit: "), std::string::npos) << steps[0].why;
  EXPECT_NE(steps[0].why.find("moments"), std::string::npos) << steps[0].why;
  const Reason* first = nullptr;
  const Reason* last = nullptr;
  for (const Reason& step : steps)
    if (step.taken) {
      if (first == nullptr) first = &step;
      last = &step;
    }
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first->why.find("the simplest that fits"), std::string::npos) << first->why;
  EXPECT_EQ(last->layout, text_of(result.winner()->layout));
  const std::vector<Reason> around = losers(result);
  ASSERT_FALSE(around.empty());
  for (const Reason& reason : around) {
    EXPECT_NE(reason.step.find(" -> "), std::string::npos);
    EXPECT_TRUE(reason.why.find("tokens/s") != std::string::npos ||
                reason.why.find("does not fit") != std::string::npos)
        << reason.why;
  }
}

}  // namespace
}  // namespace trireme
