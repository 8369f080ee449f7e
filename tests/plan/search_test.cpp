// The search against trying everything, and what it says about its choice.
#include "plan/search.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plan/cases.h"
#include "plan/nearest_fit.h"
#include "plan/reasons.h"
#include "plan/report.h"
#include "plan/report_json.h"

namespace trireme {
namespace {

// Room in which whole state does not fit one device.
Hardware tight_machine() { return test::small_machine(18 * test::kMegabyte); }

TEST(Search, ChoosesWhatTryingEverythingWouldChoose) {
  const RunSpec base = test::small_run();
  const Hardware machine = tight_machine();
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
      search(test::small_run(), tight_machine(), {.ranks = 4, .nodes = 1, .threads = 2});
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
  const Hardware machine = tight_machine();
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

TEST(NearestFit, OffersWhatFitsTheFastestFirst) {
  const RunSpec base = test::small_run({"parallel.dp_replicate=4", "batch.micro=4"});
  Hardware machine = tight_machine();
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
  Hardware machine = tight_machine();
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
  Hardware machine = tight_machine();
  machine.memory_bytes = make_plan(base, machine, 1).fullest().arena_bytes * 4 / 5;
  const Plan plan = make_plan(base, machine, 1);
  const std::vector<Fix> all = nearest_fits(plan, {.more_devices = false, .most = 100}),
                         few = nearest_fits(plan, {.more_devices = false, .most = 100, .most_work = 1});
  ASSERT_FALSE(few.empty());
  EXPECT_LE(few.size(), 2 * 2U);  // two at once for each of two decisions
  EXPECT_GT(all.size(), few.size());
  EXPECT_GE(few.front().speed, 0.98 * all.front().speed);
}

TEST(NearestFit, TakesMoreDevicesWhileNothingFits) {
  Hardware machine = tight_machine();
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

TEST(ReportJson, HasThePlansNumbers) {
  const Hardware machine = test::small_machine(300 * test::kMegabyte);
  const Plan plan = make_plan(test::small_run({"parallel.pp=2"}), machine, 1);
  const auto json = nlohmann::json::parse(plan_json(plan, {}, {}));
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["missing_bytes"], plan.missing_bytes());
  EXPECT_EQ(json["busiest_rank"], plan.step.busiest().rank);
  EXPECT_EQ(json["memory"].size(), 2U);
  EXPECT_EQ(json["memory"][1]["arena_bytes"], plan.memory[1].arena_bytes);
  int64_t sum = 0;
  for (const auto& part : json["memory"][0]["parts_bytes"]) sum += part.get<int64_t>();
  EXPECT_EQ(json["memory"][0]["total_bytes"], sum);
  EXPECT_DOUBLE_EQ(json["step_s"].get<double>(), plan.step_s());
  double s = 0;
  for (const auto& part : json["parts_s"]) s += part.get<double>();
  EXPECT_NEAR(s, plan.step_s(), 1e-9 * s);
  EXPECT_FALSE(json.contains("changes_that_fit"));
}

TEST(ReportJson, HasChangesAsSettings) {
  const std::vector<std::string> before = {"parallel.dp_replicate=4", "batch.micro=4"};
  Hardware machine = tight_machine();
  machine.memory_bytes = make_plan(test::small_run(before), machine, 1).fullest().arena_bytes * 3 / 5;
  const Plan plan = make_plan(test::small_run(before), machine, 1);
  const std::vector<Fix> fixes = nearest_fits(plan, {.threads = 2, .most = 100});
  const auto json = nlohmann::json::parse(plan_json(plan, fixes, {}));
  ASSERT_EQ(json["changes_that_fit"].size(), fixes.size());
  ASSERT_GE(fixes.size(), 2U);
  for (size_t i = 0; i < fixes.size(); ++i) {
    std::vector<std::string> overrides = before;
    for (const auto& [key, value] : json["changes_that_fit"][i]["set"].items()) {
      EXPECT_EQ(value.is_string(), key == "parallel.schedule" || key == "parallel.recompute") << key;
      overrides.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    }
    EXPECT_GT(overrides.size(), before.size());
    EXPECT_EQ(text_of(layout_of(test::small_run(overrides))), text_of(fixes[i].outcome.layout));
  }
}

TEST(ReportJson, HasTheSearch) {
  const Hardware machine = tight_machine();
  const SearchResult result = search(test::small_run(), machine, {.ranks = 4, .nodes = 1, .threads = 2});
  const auto json = nlohmann::json::parse(search_json(result, cluster_of(machine, 4, 1)));
  EXPECT_EQ(json["tried"].size(), result.tried.size());
  EXPECT_EQ(json["tried"][0]["layout"]["text"], text_of(result.winner()->layout));
  EXPECT_EQ(json["steps_up"].size(), steps_up(result, 4).size());
}

}  // namespace
}  // namespace trireme
