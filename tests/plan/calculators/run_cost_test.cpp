// Money: on demand, spot with interruptions, and where they cost the same.
#include "plan/calculators/run_cost.h"

#include <gtest/gtest.h>

#include "plan/calculators/save_interval.h"
#include "plan/message.h"

namespace trireme {
namespace {

using namespace std::chrono_literals;

Price gpu_price(const std::string& provider, const std::string& currency = "USD") {
  return {.provider = provider,
          .device = "h100-sxm",
          .currency = currency,
          .on_demand = 3,
          .spot = 1.2,
          .unit = BillingUnit::gpu_hour,
          .devices_per_node = 8,
          .date = std::chrono::sys_days(2026y / 1 / 15)};
}

CostInput input_on(std::chrono::sys_days today) {
  return {.device = "h100-sxm", .devices = 64, .hours = 461, .today = today};
}

bool notes_have(const Answer& answer, const std::string& part) {
  for (const std::string& note : answer.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(RunCost, OnDemandAndPerNode) {
  Price nodes = gpu_price("metal");
  nodes.unit = BillingUnit::node_hour;
  nodes.on_demand = 20;
  nodes.spot.reset();
  const Answer answer = run_cost({gpu_price("cloud"), nodes}, input_on(2026y / 1 / 20));
  EXPECT_EQ(find_result(answer, "price1_on_demand")->value, 64 * 461 * 3.0);
  EXPECT_EQ(find_result(answer, "price1_on_demand")->shown, "88,512.00 USD");
  EXPECT_EQ(find_result(answer, "price2_on_demand")->value, 8 * 461 * 20.0);
  EXPECT_EQ(find_result(answer, "price2_spot"), nullptr);
  EXPECT_TRUE(notes_have(answer, "Cheapest: cloud h100-sxm spot"));
  CostInput sixty = input_on(2026y / 1 / 20);
  sixty.devices = 60;
  const Answer whole = run_cost({nodes}, sixty);
  EXPECT_EQ(find_result(whole, "price1_on_demand")->value, 8 * 461 * 20.0);
  EXPECT_TRUE(notes_have(whole, "60 GPUs are billed as 8 whole nodes of 8"));
}

TEST(RunCost, FlagsAPriceOlderThanThirtyDays) {
  EXPECT_FALSE(notes_have(run_cost({gpu_price("a")}, input_on(2026y / 2 / 14)), "OLD PRICE"));
  EXPECT_TRUE(notes_have(run_cost({gpu_price("a")}, input_on(2026y / 2 / 15)),
                         "OLD PRICE: a h100-sxm is of 2026-01-15, 31 days ago (good for 30)"));
}

TEST(RunCost, SpotPaysForItsInterruptions) {
  CostInput input = input_on(2026y / 1 / 20);
  input.interruptions =
      Interruptions{.per_node_hour = 0.02, .save_s = 60, .restart_s = 600, .interval_s = 1800};
  const Answer answer = run_cost({gpu_price("a")}, input);
  const double slower = slowdown(1800, {.mtbf_s = 3600 / 0.02 / 8, .save_s = 60, .restart_s = 600});
  EXPECT_DOUBLE_EQ(find_result(answer, "price1_slowdown")->value, slower);
  EXPECT_DOUBLE_EQ(find_result(answer, "price1_spot")->value, 64 * 461 * 1.2 * slower);
  EXPECT_TRUE(notes_have(answer, "a h100-sxm: spot is cheaper at 0.02 preemptions per node-hour"));
}

TEST(RunCost, BreaksEvenWhereBothCostTheSame) {
  const Price price = gpu_price("a");
  for (const double interval_s : {0.0, 1800.0}) {
    CostInput input = input_on(2026y / 1 / 20);
    input.interruptions = Interruptions{.interval_s = interval_s};
    const std::optional<double> even = break_even_rate(price, 64, *input.interruptions);
    ASSERT_TRUE(even.has_value());
    input.interruptions->per_node_hour = *even;
    const Answer answer = run_cost({price}, input);
    EXPECT_NEAR(find_result(answer, "price1_spot")->value / find_result(answer, "price1_on_demand")->value, 1,
                1e-6);
    input.interruptions->per_node_hour = *even * 1.1;
    EXPECT_TRUE(notes_have(run_cost({price}, input), "on demand is cheaper at"));
  }
  Price dear = price;
  dear.spot = 2.9;  // saves alone make up for it
  EXPECT_FALSE(break_even_rate(dear, 64, {.save_s = 600, .interval_s = 600}).has_value());
}

TEST(RunCost, RefusesWhatCannotBeCompared) {
  const std::vector<Price> mixed = {gpu_price("a"), gpu_price("b", "EUR")};
  CostInput input = input_on(2026y / 1 / 20);
  EXPECT_EQ(message_of([&] { run_cost(choose_prices(mixed, input), input); }),
            "prices of h100-sxm are in EUR and USD, which cannot be compared; choose with --currency EUR or "
            "--provider");
  input.currency = "USD";
  EXPECT_EQ(choose_prices(mixed, input).size(), 1u);
  input.device = "h100-sx";
  EXPECT_EQ(message_of([&] { choose_prices(mixed, input); }),
            "--device h100-sx: the file has no price of it; did you mean h100-sxm?");
  input.device = "h100-sxm";
  input.currency = "GBP";
  EXPECT_EQ(message_of([&] { choose_prices(mixed, input); }),
            "--currency GBP: the file has no price of it; there are EUR, USD");
  CostInput early = input_on(2026y / 1 / 14);
  EXPECT_EQ(
      message_of([&] { choose_prices(mixed, early); }),
      "a h100-sxm: date = 2026-01-15 is after today, 2026-01-14; write the day on which the price was looked "
      "up");
  input = input_on(2026y / 1 / 20);
  input.interruptions = Interruptions{.per_node_hour = 1000};
  EXPECT_EQ(message_of([&] { run_cost({gpu_price("a")}, input); }),
            "--preemptions 1000: on 8 nodes of a h100-sxm the run is interrupted every 0.45 s, too often to "
            "get on");
}

}  // namespace
}  // namespace trireme
