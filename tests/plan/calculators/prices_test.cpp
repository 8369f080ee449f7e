// The price file: what it says, and what is refused.
#include "plan/calculators/prices.h"

#include <gtest/gtest.h>

#include "plan/message.h"

namespace trireme {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNodes = R"([[price]]
provider = "a"
device = "d"
on_demand = 20
spot = 7.5
currency = "USD"
unit = "node_hour"
devices_per_node = 8
date = 2026-01-15
)";

TEST(Prices, OfAFile) {
  const std::vector<Price> prices = parse_prices(kNodes, "p.toml");
  ASSERT_EQ(prices.size(), 1u);
  EXPECT_EQ(prices[0].provider, "a");
  EXPECT_EQ(prices[0].on_demand, 20);
  EXPECT_EQ(prices[0].spot, 7.5);
  EXPECT_EQ(prices[0].unit, BillingUnit::node_hour);
  EXPECT_EQ(prices[0].devices_per_node, 8);
  EXPECT_EQ(prices[0].date, std::chrono::sys_days(2026y / 1 / 15));
  EXPECT_EQ(to_text(prices[0].date), "2026-01-15");
}

TEST(Prices, TheExampleIsOne) {
  const std::vector<Price> prices = load_prices(TRIREME_SOURCE_DIR "/docs/prices-example.toml");
  EXPECT_EQ(prices.size(), 3u);
  EXPECT_THROW(load_prices("/nowhere/prices.toml"), EnvError);
  EXPECT_EQ(message_of([] { load_prices("/tmp"); }), "the price file /tmp is a folder, not a file");
}

// The file with a line in another form; "" takes the line away.
std::string with(const std::string& key, const std::string& line) {
  std::string text = kNodes;
  const size_t at = text.find(key + " = ");
  text.replace(at, text.find('\n', at) + 1 - at, line.empty() ? "" : line + "\n");
  return text;
}

struct Refused {
  const char* key;
  const char* line;
  const char* message;  // behind "p.toml, price 1: "
};

TEST(Prices, RefuseWhatIsMissingOrWrong) {
  const Refused cases[] = {
      {"date", "", "date is missing; write the day on which the price was looked up, as date = 2026-01-15"},
      {"date", "date = 2026", "date = 2026 is no day; write it as 2026-01-15"},
      {"date", "date = \"2026-02-30\"", "date = 2026-02-30 is no day; write it as 2026-01-15"},
      {"date", "date = \"soon\"", "date = soon is no day; write it as 2026-01-15"},
      {"currency", "", "currency is missing; write its three letters, as \"USD\""},
      {"currency", "currency = \"dollars\"",
       "currency = \"dollars\" must be its three capital letters, as \"USD\""},
      {"on_demand", "on_demand = -1", "on_demand = -1 is no price; write a number more than 0, as 2.5"},
      {"on_demand", "on_demand = nan", "on_demand = nan is no price; write a number more than 0, as 2.5"},
      {"on_demand", "on_demand = \"20\"",
       "on_demand = \"20\" is no price; write a number more than 0, as 2.5"},
      {"unit", "unit = \"hour\"", "unit = \"hour\" is not known; write \"gpu_hour\" or \"node_hour\""},
      {"unit", "unit = 1", "unit = 1 is not one; write \"gpu_hour\" or \"node_hour\""},
      {"provider", "provider = \"\"",
       "provider = \"\" is not one; write who sells it, as provider = \"example-cloud\""},
      {"device", "", "device is missing; write which device it is, as device = \"h100-sxm\""},
      {"devices_per_node", "", "devices_per_node is missing; unit = \"node_hour\" needs it"},
      {"devices_per_node", "devices_per_node = 0", "devices_per_node = 0 must be a whole number from 1 on"},
      {"spot", "sport = 7.5", "there is no key sport; did you mean spot?"}};
  for (const Refused& refused : cases)
    EXPECT_EQ(message_of([&] { parse_prices(with(refused.key, refused.line), "p.toml"); }),
              std::string("p.toml, price 1: ") + refused.message);
  std::string neither = with("on_demand", "");
  neither.erase(neither.find("spot"), 11);
  EXPECT_EQ(message_of([&] { parse_prices(neither, "p.toml"); }),
            "p.toml, price 1: neither on_demand nor spot has a price; write at least one");
  EXPECT_EQ(message_of([] { parse_prices("", "p.toml"); }), "p.toml: it has no [[price]] entry");
  EXPECT_EQ(message_of([] { parse_prices("rate = 1\n", "p.toml"); }),
            "p.toml:1: rate is no key of a price file; it has [[price]] entries");
  EXPECT_EQ(message_of([] { parse_prices("price = [1]\n", "p.toml"); }),
            "p.toml:1: price must be written as [[price]] entries");
}

}  // namespace
}  // namespace trireme
