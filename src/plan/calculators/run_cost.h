// Money for a run: on demand, and spot with the interruptions that are to be expected.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/calculators/prices.h"
#include "plan/calculators/worked.h"

namespace trireme {

// What a spot run meets. A node is taken away as one.
struct Interruptions {
  double per_node_hour = 0;  // preemptions
  double save_s = 60;        // how long a save stops the run
  double restart_s = 600;    // until the run goes on, a new node's arrival included
  double interval_s = 0;     // between saves; 0: Daly's for the rate
};

struct CostInput {
  std::string device;
  int64_t devices = 1;
  double hours = 0;                     // wall clock without interruptions
  std::optional<std::string> provider;  // only its prices
  std::optional<std::string> currency;  // only prices in it
  std::optional<Interruptions> interruptions;
  std::chrono::sys_days today;
};

// The prices that the input asks for. UserError, with the nearest name, when the file has none for the device
// or provider, and when a price is of a day after today.
std::vector<Price> choose_prices(const std::vector<Price>& prices, const CostInput& input);

// Units of the price that the devices take: whole ones are billed.
int64_t billed_units(const Price& price, int64_t devices);
int64_t nodes_of(const Price& price, int64_t devices);

// Preemptions per node-hour at which spot costs as much as on demand; nullopt when spot is dearer even
// without any, or the price has only one of the two.
std::optional<double> break_even_rate(const Price& price, int64_t devices,
                                      const Interruptions& interruptions);

// A section per price; keys "price1_on_demand", "price1_spot", ... by the price's place in `chosen`. The
// notes flag old prices and name the cheapest. UserError when several currencies would have to be compared.
Answer run_cost(const std::vector<Price>& chosen, const CostInput& input);

}  // namespace trireme
