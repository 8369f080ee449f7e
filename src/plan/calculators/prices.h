// The price file that a user keeps: what devices cost where, and of which day each price is.
//
//   [[price]]
//   provider = "example-cloud"
//   device = "h100-sxm"        # as the hardware files name it
//   on_demand = 3.00           # one of on_demand and spot, or both
//   spot = 1.20
//   currency = "USD"
//   unit = "gpu_hour"          # what is billed: "gpu_hour" or "node_hour"
//   devices_per_node = 8       # "node_hour": a must
//   date = 2026-01-15          # when it was looked up
//   source = "their web page"  # where, for yourself; not read
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trireme {

enum class BillingUnit : uint8_t { gpu_hour, node_hour };

struct Price {
  std::string provider, device, currency;
  std::optional<double> on_demand, spot;  // of one unit
  BillingUnit unit = BillingUnit::gpu_hour;
  int64_t devices_per_node = 1;
  std::chrono::sys_days date;
};

inline constexpr int64_t kPriceGoodForDays = 30;

// "2026-01-15"; UserError with key and cure for what is no day.
std::chrono::sys_days read_date(const std::string& key, const std::string& text);
std::string to_text(std::chrono::sys_days day);

// UserError with the file, the entry, key, value and cure for what is unknown, missing (a date, a currency)
// or no price. `name` stands for the file in messages.
std::vector<Price> parse_prices(const std::string& text, const std::string& name);
// EnvError when the file cannot be read.
std::vector<Price> load_prices(const std::string& path);

}  // namespace trireme
