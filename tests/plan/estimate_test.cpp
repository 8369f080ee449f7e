// Guesses against what they stand for.
#include "plan/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/catalog.h"
#include "plan/cases.h"
#include "plan/layouts.h"
#include "plan/plan.h"

namespace trireme {
namespace {

// A model whose parts have the proportions of a real one, on eight devices of a real machine.
RunSpec middling_run() {
  return parse_config(
      "[model]\npreset = \"llama3-1b\"\n[data]\ntrain = [\"unused.bin\"]\nseq_len = 4096\n[batch]\nsequences "
      "= "
      "64\nmicro = 1\n[optimizer]\nlr = 1e-3\n[run]\nname = \"middling\"\nsteps = 100\n",
      "middling");
}

TEST(Estimate, IsNearTheSimulation) {
  const RunSpec base = middling_run();
  const Hardware machine = load_hardware("h100-sxm");
  const Cluster cluster = cluster_of(machine, 8, 1);
  const std::vector<Layout> all = layouts(base, {.ranks = 8, .devices_per_node = 8});
  Estimator estimator(base, cluster);
  std::vector<Layout> some;
  for (size_t i = 0; i < all.size(); i += 97) some.push_back(all[i]);
  estimator.price(some, 2);
  std::vector<double> times, memories;  // guess over simulation
  for (const Layout& layout : some) {
    const auto guess = estimator.of(layout);
    if (!guess) continue;
    const Plan plan = make_plan(with_layout(base, layout), machine, 1);
    times.push_back(guess->step_s / plan.step_s());
    memories.push_back(static_cast<double>(guess->arena_bytes) /
                       static_cast<double>(plan.fullest().arena_bytes));
    // In a pipeline what one stage sums delays the others.
    const double near = layout.parallel.pp > 1 && sums_each_micro_batch(layout) ? 0.25 : 0.2;
    EXPECT_NEAR(times.back(), 1, near) << text_of(layout);
    EXPECT_NEAR(memories.back(), 1, 0.3) << text_of(layout);
  }
  ASSERT_GE(times.size(), 30U);
  std::sort(times.begin(), times.end());
  std::sort(memories.begin(), memories.end());
  EXPECT_NEAR(times[times.size() / 2], 1, 0.02);
  EXPECT_NEAR(memories[memories.size() / 2], 1, 0.05);
}

TEST(Estimate, LeavesOutWhatTheRunRefuses) {
  const RunSpec base = test::small_run();
  const Hardware machine = test::small_machine(test::kMegabyte);
  const Cluster cluster = cluster_of(machine, 8, 2);
  Layout layout = layout_of(base);
  layout.parallel.tp = 8;  // of 4 heads
  layout.parallel.etp = 8;
  Estimator estimator(base, cluster);
  estimator.price({layout}, 1);
  EXPECT_FALSE(estimator.of(layout));
  layout = layout_of(base);
  layout.parallel.pp = 16;  // of 8 blocks
  estimator.price({layout}, 1);
  EXPECT_FALSE(estimator.of(layout));
}

}  // namespace
}  // namespace trireme
