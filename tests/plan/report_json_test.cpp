// What machines read of plans and searches.
#include "plan/report_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "plan/cases.h"
#include "plan/nearest_fit.h"
#include "plan/reasons.h"
#include "plan/search.h"

namespace trireme {
namespace {

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

// Applied to the config that they were asked for, the changes make the layout that was tried.
void expect_settings_hold(const std::vector<std::string>& before, double room) {
  Hardware machine = test::tight_machine();
  const RunSpec base = test::small_run(before);
  machine.memory_bytes = std::llround(
      room * static_cast<double>(
                 make_plan(base, machine, least_nodes(machine, all_ranks(base))).fullest().arena_bytes));
  const Plan plan = make_plan(base, machine, least_nodes(machine, all_ranks(base)));
  const std::vector<Fix> fixes = nearest_fits(plan, {.threads = 2, .most = 100});
  const auto json = nlohmann::json::parse(plan_json(plan, fixes, {}));
  ASSERT_EQ(json["changes_that_fit"].size(), fixes.size());
  ASSERT_GE(fixes.size(), 2U);
  for (size_t i = 0; i < fixes.size(); ++i) {
    const auto& change = json["changes_that_fit"][i];
    std::vector<std::string> overrides;
    for (const std::string& setting : before) {
      const auto remove = change["remove"].get<std::set<std::string>>();
      if (!remove.contains(setting.substr(0, setting.find('=')))) overrides.push_back(setting);
    }
    for (const auto& [key, value] : change["set"].items())
      overrides.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    EXPECT_EQ(to_toml(test::small_run(overrides)), to_toml(with_layout(base, fixes[i].outcome.layout)))
        << change["change"];
  }
}

TEST(ReportJson, HasChangesAsSettings) {
  expect_settings_hold({"parallel.dp_replicate=4", "batch.micro=4"}, 0.6);
  expect_settings_hold({"parallel.dp_shard=2", "parallel.cp=2"}, 0.7);
  expect_settings_hold({"parallel.dp_shard=4", "batch.lanes=4"}, 0.8);
  expect_settings_hold({"parallel.dp_shard=4", "parallel.zero=3", "parallel.reshard_after_forward=false"},
                       0.8);
  expect_settings_hold({"parallel.dp_shard=4", "parallel.zero=1", "parallel.prefetch=3"}, 0.8);
  expect_settings_hold({"parallel.pp=2", "parallel.stages=[2,4]"}, 0.8);
  expect_settings_hold({"parallel.tp=2", "parallel.etp=2", "batch.micro=2"}, 0.8);
}

TEST(ReportJson, HasTheSearch) {
  const Hardware machine = test::tight_machine();
  const SearchResult result = search(test::small_run(), machine, {.ranks = 4, .nodes = 1, .threads = 2});
  const auto json = nlohmann::json::parse(search_json(result, cluster_of(machine, 4, 1)));
  EXPECT_EQ(json["tried"].size(), result.tried.size());
  EXPECT_EQ(json["tried"][0]["layout"]["text"], text_of(result.winner()->layout));
  EXPECT_EQ(json["steps_up"].size(), steps_up(result, 4).size());
}

}  // namespace
}  // namespace trireme
