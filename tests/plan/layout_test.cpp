// A layout through the config's door and back, and in words.
#include "plan/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "plan/cases.h"
#include "plan/changes.h"
#include "plan/layouts.h"

namespace trireme {
namespace {

TEST(Layout, KeepsTheRunAndItsBatch) {
  const RunSpec base = test::small_run();
  Layout layout = layout_of(base);
  layout.parallel.dp_shard = 4;
  layout.parallel.zero = 3;
  layout.parallel.tp = 2;
  layout.parallel.pp = 2;
  layout.parallel.schedule = PipelineSchedule::interleaved;
  layout.parallel.virtual_stages = 2;
  layout.parallel.etp = 2;
  layout.micro = 2;
  const RunSpec spec = with_layout(base, layout);
  EXPECT_EQ(all_ranks(spec), 16);
  EXPECT_EQ(ranks_of(layout), 16);
  EXPECT_EQ(tokens_per_step(spec), tokens_per_step(base));
  EXPECT_EQ(spec.batch.lanes, 4);
  EXPECT_EQ(text_of(layout_of(spec)), "zero 3 over 4, tp 2, pp 2 interleaved x 2, micro 2");
  for (const Difference& d : diff(base, spec))
    EXPECT_TRUE(d.key.starts_with("parallel.") || d.key == "batch.micro" || d.key == "batch.lanes") << d.key;
}

TEST(Layout, KeepsLanesThatTheUserFixed) {
  const RunSpec base = test::small_run({"batch.lanes=8"});
  EXPECT_TRUE(has_fixed_lanes(base));
  Layout layout = layout_of(base);
  layout.parallel.dp_replicate = 4;
  EXPECT_EQ(with_layout(base, layout).batch.lanes, 8);
  layout.parallel.dp_replicate = 16;
  EXPECT_THROW(with_layout(base, layout), UserError);
}

TEST(Layout, RefusesWhatDoesNotDivide) {
  Layout layout = layout_of(test::small_run());
  layout.parallel.tp = 3;
  layout.parallel.etp = 3;
  EXPECT_THROW(with_layout(test::small_run(), layout), UserError);
  layout = layout_of(test::small_run());
  layout.parallel.dp_replicate = 3;
  EXPECT_THROW(with_layout(test::small_run(), layout), UserError);
}

TEST(Layout, StandsOnARung) {
  const auto rung = [](const std::vector<std::string>& overrides) {
    return rung_of(layout_of(test::small_run(overrides)), 2);
  };
  EXPECT_EQ(rung({"parallel.dp_replicate=8"}), Rung::replicated);
  EXPECT_EQ(rung({"parallel.dp_shard=8"}), Rung::zero1);
  EXPECT_EQ(rung({"parallel.dp_shard=8", "parallel.zero=3"}), Rung::zero3);
  EXPECT_EQ(rung({"parallel.dp_shard=4", "parallel.tp=2"}), Rung::tensor);
  EXPECT_EQ(rung({"parallel.pp=2", "parallel.tp=2"}), Rung::pipeline);
  EXPECT_EQ(rung({"parallel.pp=2", "parallel.cp=2"}), Rung::context);
  EXPECT_EQ(rung({"parallel.tp=4"}), Rung::spanning);
}

TEST(Layouts, UseAllRanksOnceAndDivideTheBatch) {
  const RunSpec base = test::small_run();
  std::set<std::string> seen;
  for (const Layout& layout : layouts(base, {.ranks = 8, .devices_per_node = 4})) {
    EXPECT_EQ(ranks_of(layout), 8);
    EXPECT_LE(layout.parallel.tp, 4);
    EXPECT_EQ(32 % (layout.micro * data_parallel_of(layout)), 0);
    EXPECT_TRUE(seen.insert(text_of(layout)).second) << text_of(layout);
  }
  for (const char* expected :
       {"8 replicated, micro 1", "zero 3 over 8, micro 4", "2 replicated, zero 3 over 4, micro 1",
        "zero 1 over 2, tp 4, micro 16, recompute full", "2 replicated, tp 2, pp 2 zbv x 2, micro 1",
        "zero 1 over 2, cp 4 ring, micro 1, recompute selective", "pp 8 1f1b, micro 2"})
    EXPECT_TRUE(seen.contains(expected)) << expected;
}

TEST(Layouts, CutByTensorAcrossNodesOnlyWhenAsked) {
  const RunSpec base = test::small_run();
  bool wide = false;
  for (const Layout& layout : layouts(base, {.ranks = 8, .devices_per_node = 2, .across_nodes = true}))
    wide = wide || layout.parallel.tp == 4;
  EXPECT_TRUE(wide);
}

TEST(Changes, NameTheKeysThatDiffer) {
  const Layout before = layout_of(test::small_run({"parallel.dp_replicate=4"}));
  const Layout after = layout_of(test::small_run({"parallel.pp=4", "batch.micro=2"}));
  EXPECT_EQ(
      change_text(before, after),
      "parallel.dp_replicate 4 -> 1, parallel.pp 1 -> 4, parallel.schedule none -> 1f1b, batch.micro 1 -> 2");
  EXPECT_EQ(change_text(before, before), "");
}

TEST(Changes, KeepTheRanksWhereTheyCan) {
  const Layout layout = layout_of(test::small_run({"parallel.dp_replicate=8", "batch.micro=2"}));
  std::set<std::string> smaller;
  for (const Layout& next : smaller_layouts(layout, 8)) {
    EXPECT_EQ(ranks_of(next), 8);
    smaller.insert(change_text(layout, next));
  }
  for (const char* expected :
       {"parallel.dp_replicate 8 -> 1, parallel.dp_shard 1 -> 8, parallel.zero 0 -> 1", "batch.micro 2 -> 1",
        "parallel.recompute none -> full", "parallel.dp_replicate 8 -> 4, parallel.tp 1 -> 2",
        "parallel.dp_replicate 8 -> 1, parallel.pp 1 -> 8, parallel.schedule none -> 1f1b"})
    EXPECT_TRUE(smaller.contains(expected)) << expected;
  for (const Layout& next : neighbours(layout)) EXPECT_EQ(ranks_of(next), 8) << change_text(layout, next);
}

TEST(Changes, TakeMoreRanksWhereThereAreNone) {
  const Layout layout = layout_of(test::small_run());
  std::set<int64_t> ranks;
  for (const Layout& next : smaller_layouts(layout, 4)) ranks.insert(ranks_of(next));
  EXPECT_EQ(ranks, (std::set<int64_t>{1, 2, 4}));
}

}  // namespace
}  // namespace trireme
