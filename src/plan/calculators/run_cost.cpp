// A spot run pays for T_w / T_s as many hours (save_interval.h). On demand counts as uninterrupted.
#include "plan/calculators/run_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/suggestion.h"
#include "plan/calculators/save_interval.h"

namespace trireme {
namespace {

// A run on spot nodes.
struct SpotRun {
  Failures failures;
  double interval_s = 0;
  double slower = 1;  // T_w / T_s
};

SpotRun spot_run(int64_t nodes, const Interruptions& interruptions) {
  SpotRun run;
  run.failures = {.mtbf_s = kHour_s / interruptions.per_node_hour / static_cast<double>(nodes),
                  .save_s = interruptions.save_s,
                  .restart_s = interruptions.restart_s};
  run.interval_s = interruptions.interval_s > 0 ? interruptions.interval_s : daly_interval(run.failures);
  run.slower = slowdown(run.interval_s, run.failures);
  return run;
}

std::string offer_name(const Price& price) { return fmt::format("{} {}", price.provider, price.device); }

struct Offer {
  std::string name;
  double amount = 0;
  std::string currency;
};

Worked money(Worked result, const std::string& currency) {
  result.unit = currency;
  result.shown = as_money(result.value, currency);
  return result;
}

Worked worked_cost(const std::string& key, const char* label, const Price& price, double unit_price,
                   double slower, const CostInput& input) {
  const int64_t units = billed_units(price, input.devices);
  const char* unit_name = price.unit == BillingUnit::node_hour ? "nodes" : "GPUs";
  Worked result{.key = key,
                .label = label,
                .value = static_cast<double>(units) * input.hours * unit_price * slower,
                .formula = fmt::format("{} * hours * price", unit_name),
                .numbers = fmt::format("{} * {} * {}", units, plain(input.hours), plain(unit_price))};
  if (slower != 1) {
    result.formula += " * slowdown";
    result.numbers += fmt::format(" * {:.5g}", slower);
  }
  return money(std::move(result), price.currency);
}

void add_slowdown(AnswerSection& section, const std::string& prefix, const SpotRun& run,
                  const CostInput& input) {
  const std::string m = plain(run.failures.mtbf_s), tau = plain(run.interval_s);
  section.results.push_back(worked_seconds(
      {.key = prefix + "interval",
       .label = "tau, between saves",
       .value = run.interval_s,
       .formula = input.interruptions->interval_s > 0 ? "" : fmt::format("Daly 2006 at M = {} s", m)}));
  section.results.push_back(worked_number(
      {.key = prefix + "slowdown",
       .label = "slowdown",
       .value = run.slower,
       .formula = "M * e^(R/M) * (e^((tau+delta)/M) - 1) / tau",
       .numbers = fmt::format("{} * e^({}/{}) * (e^(({}+{})/{}) - 1) / {}", m, plain(run.failures.restart_s),
                              m, tau, plain(run.failures.save_s), m, tau)}));
  section.results.push_back(
      worked_seconds({.key = prefix + "spot_time",
                      .label = "wall clock on spot",
                      .value = input.hours * run.slower * kHour_s,
                      .formula = "hours * slowdown",
                      .numbers = fmt::format("{} * {:.5g}", plain(input.hours), run.slower)}));
}

std::string compare_spot(const Price& price, const CostInput& input, const SpotRun& run) {
  if (!price.on_demand) return "";
  const bool spot_wins = *price.spot * run.slower < *price.on_demand;
  const std::optional<double> even = break_even_rate(price, input.devices, *input.interruptions);
  const std::string at =
      even ? fmt::format("they cost the same at {:.3g} preemptions per node-hour, a slowdown of {:.4g}",
                         *even, *price.on_demand / *price.spot)
           : "spot is dearer even without preemptions";
  return fmt::format("{}: {} is cheaper at {:.3g} preemptions per node-hour; {}.", offer_name(price),
                     spot_wins ? "spot" : "on demand", input.interruptions->per_node_hour, at);
}

void note_age(const Price& price, const CostInput& input, Answer& answer) {
  const int64_t days = (input.today - price.date).count();
  if (days > kPriceGoodForDays)
    answer.notes.push_back(fmt::format(
        "OLD PRICE: {} is of {}, {} days ago (good for {}); look it up again and change its date.",
        offer_name(price), to_text(price.date), days, kPriceGoodForDays));
}

AnswerSection price_section(const Price& price, size_t at, const CostInput& input, Answer& answer,
                            std::vector<Offer>& offers) {
  const int64_t units = billed_units(price, input.devices);
  AnswerSection section{fmt::format("{}, per {} of {}", offer_name(price),
                                    price.unit == BillingUnit::node_hour
                                        ? fmt::format("node-hour ({} GPUs)", price.devices_per_node)
                                        : "GPU-hour",
                                    to_text(price.date)),
                        {}};
  const std::string prefix = fmt::format("price{}_", at + 1);
  const auto add = [&](Worked result, const char* kind) {
    offers.push_back({fmt::format("{} {}", offer_name(price), kind), result.value, price.currency});
    section.results.push_back(std::move(result));
  };
  if (price.on_demand)
    add(worked_cost(prefix + "on_demand", "on demand", price, *price.on_demand, 1, input), "on demand");
  if (price.spot && !input.interruptions)
    add(worked_cost(prefix + "spot", "spot, uninterrupted", price, *price.spot, 1, input), "spot");
  if (price.spot && input.interruptions) {
    const int64_t nodes = nodes_of(price, input.devices);
    const SpotRun run = spot_run(nodes, *input.interruptions);
    if (!std::isfinite(run.slower) || run.slower > 1e6)
      fail_user("--preemptions {}: on {} nodes of {} the run is interrupted every {}, too often to get on",
                plain(input.interruptions->per_node_hour), nodes, offer_name(price),
                as_duration(run.failures.mtbf_s));
    add_slowdown(section, prefix, run, input);
    add(worked_cost(prefix + "spot", "spot, interrupted", price, *price.spot, run.slower, input), "spot");
    if (std::string verdict = compare_spot(price, input, run); !verdict.empty())
      answer.notes.push_back(std::move(verdict));
  }
  if (price.unit == BillingUnit::node_hour && units * price.devices_per_node != input.devices)
    answer.notes.push_back(fmt::format("{}: {} GPUs are billed as {} whole nodes of {}.", offer_name(price),
                                       input.devices, units, price.devices_per_node));
  note_age(price, input, answer);
  return section;
}

std::vector<std::string> names_of_prices(const std::vector<Price>& prices, std::string Price::*name) {
  std::set<std::string> names;
  for (const Price& price : prices) names.insert(price.*name);
  return {names.begin(), names.end()};
}

// Those whose name is `wanted`; UserError with the nearest when there is none.
std::vector<Price> keep(const std::vector<Price>& prices, const char* option, const std::string& wanted,
                        std::string Price::*name) {
  std::vector<Price> kept;
  for (const Price& price : prices)
    if (price.*name == wanted) kept.push_back(price);
  if (!kept.empty()) return kept;
  fail_user("{} {}: the file has no price of it; {}", option, wanted,
            did_you_mean(wanted, names_of_prices(prices, name), "there are"));
}

}  // namespace

std::vector<Price> choose_prices(const std::vector<Price>& prices, const CostInput& input) {
  std::vector<Price> chosen = keep(prices, "--device", input.device, &Price::device);
  if (input.provider) chosen = keep(chosen, "--provider", *input.provider, &Price::provider);
  if (input.currency) chosen = keep(chosen, "--currency", *input.currency, &Price::currency);
  for (const Price& price : chosen)
    if (price.date > input.today)
      fail_user("{}: date = {} is after today, {}; write the day on which the price was looked up",
                offer_name(price), to_text(price.date), to_text(input.today));
  return chosen;
}

int64_t nodes_of(const Price& price, int64_t devices) {
  return (devices + price.devices_per_node - 1) / price.devices_per_node;
}

int64_t billed_units(const Price& price, int64_t devices) {
  return price.unit == BillingUnit::node_hour ? nodes_of(price, devices) : devices;
}

std::optional<double> break_even_rate(const Price& price, int64_t devices,
                                      const Interruptions& interruptions) {
  if (!price.on_demand || !price.spot) return std::nullopt;
  const double enough = *price.on_demand / *price.spot;
  const auto slower_at = [&](double rate) {
    Interruptions at = interruptions;
    at.per_node_hour = rate;
    return spot_run(nodes_of(price, devices), at).slower;
  };
  double low = 1e-9, high = 1e6;  // the slowdown grows with the rate
  if (slower_at(low) >= enough) return std::nullopt;
  for (int i = 0; i < 200 && high / low > 1 + 1e-9; ++i) {
    const double middle = std::sqrt(low * high);
    (slower_at(middle) < enough ? low : high) = middle;
  }
  return low;
}

Answer run_cost(const std::vector<Price>& chosen, const CostInput& input) {
  const std::vector<std::string> currencies = names_of_prices(chosen, &Price::currency);
  if (currencies.size() > 1)
    fail_user("prices of {} are in {}, which cannot be compared; choose with --currency {} or --provider",
              input.device, fmt::join(currencies, " and "), currencies.front());
  Answer answer;
  std::vector<Offer> offers;
  for (size_t i = 0; i < chosen.size(); ++i)
    answer.sections.push_back(price_section(chosen[i], i, input, answer, offers));
  const auto cheapest = std::min_element(offers.begin(), offers.end(),
                                         [](const Offer& a, const Offer& b) { return a.amount < b.amount; });
  answer.notes.push_back(
      fmt::format("Cheapest: {}, {}.", cheapest->name, as_money(cheapest->amount, cheapest->currency)));
  const bool spot =
      std::any_of(chosen.begin(), chosen.end(), [](const Price& price) { return price.spot.has_value(); });
  if (spot && !input.interruptions)
    answer.notes.push_back("Spot is counted without interruptions; --preemptions says how often they come.");
  return answer;
}

}  // namespace trireme
