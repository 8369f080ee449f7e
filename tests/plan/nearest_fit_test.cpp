// The advice for what does not fit: what it offers, in which order, and that it finds what there is.
#include "plan/nearest_fit.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plan/cases.h"
#include "plan/report.h"
#include "schedule/catalog.h"

namespace trireme {
namespace {

TEST(NearestFit, OffersWhatFitsTheFastestFirst) {
  const RunSpec base = test::small_run({"parallel.dp_replicate=4", "batch.micro=4"});
  Hardware machine = test::tight_machine();
  machine.memory_bytes = make_plan(base, machine, 1).fullest().arena_bytes * 4 / 5;
  const Plan plan = make_plan(base, machine, 1);
  ASSERT_FALSE(plan.fits());
  const std::vector<Fix> fixes = nearest_fits(plan, {.more_devices = false, .threads = 2});
  ASSERT_GE(fixes.size(), 3U);
  for (size_t i = 0; i < fixes.size(); ++i) {
    EXPECT_TRUE(fixes[i].outcome.fits());
    EXPECT_EQ(fixes[i].outcome.devices, 4);
    EXPECT_NEAR(fixes[i].speed, plan.step_s() / fixes[i].outcome.step_s, 1e-9);
    if (i > 0) {
      EXPECT_LE(fixes[i].speed, fixes[i - 1].speed);
    }
  }
  const std::string text = plan_text(plan) + fixes_text(plan, fixes);
  for (const char* said :
       {"too many", "changes that fit", "MFU", "HFU", "fullest at timeline train", "compute", "GPU-hours"})
    EXPECT_NE(text.find(said), std::string::npos) << said;
}

TEST(NearestFit, OffersAsManyDevicesFirst) {
  const RunSpec base = test::small_run({"parallel.dp_replicate=4", "batch.micro=4"});
  Hardware machine = test::tight_machine();
  machine.memory_bytes = make_plan(base, machine, 1).fullest().arena_bytes * 3 / 5;
  const std::vector<Fix> fixes =
      nearest_fits(make_plan(base, machine, 1), {.more_devices = true, .threads = 2, .most = 100});
  ASSERT_GE(fixes.size(), 2U);
  EXPECT_EQ(fixes.front().outcome.devices, 4);
  EXPECT_GT(fixes.back().outcome.devices, 4);
  for (size_t i = 1; i < fixes.size(); ++i)
    EXPECT_TRUE(fixes[i - 1].outcome.devices == 4 || fixes[i].outcome.devices > 4);
}

TEST(NearestFit, TriesTheBestByGuessWhereThereIsLittleTime) {
  const RunSpec base = test::small_run({"parallel.dp_replicate=4", "batch.micro=4"});
  Hardware machine = test::tight_machine();
  machine.memory_bytes = make_plan(base, machine, 1).fullest().arena_bytes * 4 / 5;
  const Plan plan = make_plan(base, machine, 1);
  const std::vector<Fix> all = nearest_fits(plan, {.more_devices = false, .most = 100}),
                         few = nearest_fits(plan, {.more_devices = false, .most = 100, .most_work = 1});
  ASSERT_FALSE(few.empty());
  EXPECT_LE(few.size(), 2 * 2U);  // two at once for each of two decisions
  EXPECT_GT(all.size(), few.size());
  EXPECT_GE(few.front().speed, 0.98 * all.front().speed);
}

TEST(NearestFit, FindsSomethingWithLittleTimeWhereThereIsAnything) {
  int found = 0;
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{"parallel.dp_replicate=4", "batch.micro=4"},
        {"parallel.dp_shard=4", "batch.micro=8"},
        {"parallel.pp=2", "parallel.dp_shard=2", "batch.micro=2"}}) {
    const RunSpec base = test::small_run(overrides);
    Hardware machine = test::tight_machine();
    const int64_t arena_bytes = make_plan(base, machine, 1).fullest().arena_bytes;
    for (int part = 16; part < 36; ++part) {
      machine.memory_bytes = arena_bytes * part / 50;
      const Plan plan = make_plan(base, machine, 1);
      const FixOptions options{.more_devices = false, .most = 100};
      FixOptions hurried = options;
      hurried.most_work = 1;
      const bool anything = !nearest_fits(plan, options).empty();
      EXPECT_EQ(!nearest_fits(plan, hurried).empty(), anything) << part << " of 50";
      found += anything ? 1 : 0;
    }
  }
  EXPECT_GE(found, 15);
}

TEST(NearestFit, KeepsATableOfTheUsersOwn) {
  const std::string path = testing::TempDir() + "/nearest_fit_schedule.txt";
  std::ofstream(path) << to_text(make_schedule("1f1b", {.ranks = 2, .micro_batches = 32}).table);
  const RunSpec base = test::small_run({"parallel.pp=2", "parallel.schedule_file=" + path});
  Hardware machine = test::tight_machine();
  machine.memory_bytes = make_plan(base, machine, 1).fullest().arena_bytes * 19 / 20;
  const std::vector<Fix> fixes = nearest_fits(make_plan(base, machine, 1), {.more_devices = false});
  ASSERT_FALSE(fixes.empty());
  EXPECT_EQ(fixes[0].outcome.layout.parallel.schedule_file, path);
}

TEST(NearestFit, TakesMoreDevicesWhileNothingFits) {
  Hardware machine = test::tight_machine();
  const RunSpec spread =
      test::small_run({"parallel.tp=4", "parallel.dp_shard=8", "parallel.zero=3", "parallel.recompute=full"});
  machine.memory_bytes = make_plan(spread, machine, 8).fullest().arena_bytes * 11 / 10;
  const Plan plan = make_plan(test::small_run(), machine, 1);
  const std::vector<Fix> fixes = nearest_fits(plan, {.threads = 2});
  ASSERT_FALSE(fixes.empty());
  for (const Fix& fix : fixes) {
    EXPECT_TRUE(fix.outcome.fits());
    EXPECT_GT(fix.outcome.devices, 8);
  }
  EXPECT_TRUE(nearest_fits(plan, {.more_devices = false, .threads = 2}).empty());
}

TEST(NearestFit, OffersNothingWhereNothingHelps) {
  const Plan plan =
      make_plan(test::small_run({"parallel.dp_replicate=2"}), test::small_machine(test::kMegabyte / 10), 1);
  const std::vector<Fix> fixes = nearest_fits(plan, {.more_devices = true, .threads = 2});
  EXPECT_TRUE(fixes.empty());
  EXPECT_NE(fixes_text(plan, fixes).find("no change"), std::string::npos);
}

}  // namespace
}  // namespace trireme
