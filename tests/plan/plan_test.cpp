// A plan's numbers hang together.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "compile/flops_report.h"
#include "hardware/catalog.h"
#include "model/flops.h"
#include "plan/cases.h"

namespace trireme {
namespace {

TEST(Plan, SpeedIsTokensAndFlopsOverTheStep) {
  const Hardware machine = test::small_machine(200 * test::kMegabyte);
  const RunSpec spec = test::small_run({"parallel.dp_replicate=4"});
  const Plan plan = make_plan(spec, machine, 1);
  ASSERT_GT(plan.step_s(), 0);
  EXPECT_DOUBLE_EQ(plan.tokens_per_s(), 32 * 128 / plan.step_s());
  const Model model = build_model(spec.model, {.batch = 1, .seq_len = 128});
  EXPECT_DOUBLE_EQ(plan.mfu(),
                   flops_per_token(spec.model, model, 128) * 32 * 128 / plan.step_s() / (4 * 1e12));
  EXPECT_DOUBLE_EQ(plan.run_tokens(), 100.0 * 32 * 128);
  EXPECT_DOUBLE_EQ(plan.device_hours(), 4 * 100 * plan.step_s() / 3600);
  EXPECT_EQ(plan.parameters, parameter_count(model));
  const auto& parts = plan.step.busiest().parts;
  EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), plan.step_s(), 1e-9 * plan.step_s());
}

TEST(Plan, ExecutedFlopsAreThoseOfAllRanksAndGrowWithRecomputation) {
  const Hardware machine = test::small_machine(200 * test::kMegabyte);
  const double one = make_plan(test::small_run(), machine, 1).executed_flops;
  for (const auto& overrides : std::vector<std::vector<std::string>>{
           {"parallel.dp_replicate=4"}, {"parallel.pp=2"}, {"parallel.pp=2", "parallel.dp_shard=2"}})
    EXPECT_NEAR(make_plan(test::small_run(overrides), machine, 1).executed_flops / one, 1, 1e-9);
  const double full = make_plan(test::small_run({"parallel.recompute=full"}), machine, 1).executed_flops;
  EXPECT_GT(full, 1.2 * one);
  EXPECT_LT(full, 1.34 * one);  // a third forward of each layer, and no more
}

TEST(Plan, FitsWhenTheFullestArenaDoes) {
  const RunSpec spec = test::small_run({"parallel.pp=2"});
  Hardware machine = test::small_machine(200 * test::kMegabyte);
  machine.overhead_bytes = 5 * test::kMegabyte;
  const int64_t arena = make_plan(spec, machine, 1).fullest().arena_bytes;
  machine.memory_bytes = arena + machine.overhead_bytes;
  const Plan exact = make_plan(spec, machine, 1);
  EXPECT_TRUE(exact.fits());
  EXPECT_EQ(exact.missing_bytes(), 0);
  EXPECT_EQ(exact.memory.size(), 2U);
  machine.memory_bytes -= 1;
  EXPECT_EQ(make_plan(spec, machine, 1).missing_bytes(), 1);
  EXPECT_FALSE(make_plan(spec, machine, 1).fits());
}

TEST(Plan, RentsWholeNodesWhereThereAreSeveral) {
  const Hardware machine = test::small_machine(200 * test::kMegabyte);
  EXPECT_EQ(least_nodes(machine, 4), 1);
  EXPECT_EQ(least_nodes(machine, 6), 2);
  EXPECT_EQ(least_nodes(machine, 27), 9);  // as many on each
  EXPECT_EQ(least_nodes(machine, 37), 10);
  EXPECT_EQ(least_nodes(load_hardware("cpu"), 64), 1);
  EXPECT_EQ(make_plan(test::small_run({"parallel.dp_replicate=8"}), machine, 4).devices, 16);
  EXPECT_EQ(make_plan(test::small_run(), machine, 1).devices, 1);  // a node may be shared
}

std::string refusal(const std::vector<std::string>& overrides, const Hardware& machine, int64_t nodes) {
  try {
    make_plan(test::small_run(overrides), machine, nodes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Plan, RefusesRanksWithoutDevicesAndDtypesWithoutPeak) {
  Hardware machine = test::small_machine(200 * test::kMegabyte);
  EXPECT_NE(refusal({"parallel.dp_replicate=8"}, machine, 1).find("use 2 nodes"), std::string::npos);
  EXPECT_NE(refusal({}, machine, 0).find("--nodes 0"), std::string::npos);
  machine.peak[static_cast<size_t>(PeakType::fp32)] = 0;
  EXPECT_NE(refusal({"precision.compute=fp32"}, machine, 1).find("precision.compute = \"fp32\""),
            std::string::npos);
}

}  // namespace
}  // namespace trireme
