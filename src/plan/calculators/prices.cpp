// TOML to Prices, entry by entry; the keys of an entry are one table.
#include "plan/calculators/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/day.h"
#include "base/error.h"
#include "base/suggestion.h"
#include "config/text_file.h"
#include "config/toml_source.h"

namespace trireme {
namespace {

const std::vector<std::string> kKeys = {"provider", "device", "on_demand",        "spot",  "currency",
                                        "unit",     "date",   "devices_per_node", "source"};

// One [[price]]; `place` is "prices.toml, price 2".
class Entry {
 public:
  Entry(const TomlTable& table, std::string place) : table_(table), place_(std::move(place)) {
    for (const TomlEntry& entry : table_) {
      if (std::find(kKeys.begin(), kKeys.end(), entry.key) != kKeys.end()) continue;
      fail_user("{}: there is no key {}; {}", place_, entry.key, did_you_mean(entry.key, kKeys, "there are"));
    }
  }

  std::string word(const char* key, const char* cure) const {
    const TomlValue* value = find(key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    if (text != nullptr && !text->empty()) return *text;
    fail_user("{}: {} {}; {}", place_, key, said(value), cure);
  }

  std::optional<double> price(const char* key) const {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    double number = std::nan("");
    if (const auto* whole = std::get_if<int64_t>(&value->value)) number = static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value->value)) number = *real;
    if (number > 0 && number < 1e9) return number;
    fail_user("{}: {} = {} is no price; write a number more than 0, as 2.5", place_, key, value->text);
  }

  std::optional<int64_t> whole(const char* key) const {
    const TomlValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    const auto* number = std::get_if<int64_t>(&value->value);
    if (number != nullptr && *number >= 1 && *number <= 1 << 20) return *number;
    fail_user("{}: {} = {} must be a whole number from 1 on", place_, key, value->text);
  }

  std::chrono::sys_days date() const {
    const TomlValue* value = find("date");
    if (value == nullptr)
      fail_user("{}: date is missing; write the day on which the price was looked up, as date = 2026-01-15",
                place_);
    const auto* text = std::get_if<std::string>(&value->value);
    return read_date(place_ + ": date =", text != nullptr ? *text : value->text);
  }

  const std::string& place() const { return place_; }

 private:
  const TomlValue* find(const std::string& key) const {
    for (const TomlEntry& entry : table_)
      if (entry.key == key) return &entry.value;
    return nullptr;
  }
  static std::string said(const TomlValue* value) {
    return value == nullptr ? "is missing" : fmt::format("= {} is not one", value->text);
  }

  const TomlTable& table_;
  std::string place_;
};

BillingUnit read_unit(const Entry& entry) {
  const char* cure = "write \"gpu_hour\" or \"node_hour\"";
  const std::string unit = entry.word("unit", cure);
  if (unit == "gpu_hour") return BillingUnit::gpu_hour;
  if (unit == "node_hour") return BillingUnit::node_hour;
  fail_user("{}: unit = \"{}\" is not known; {}", entry.place(), unit, cure);
}

std::string read_currency(const Entry& entry) {
  const std::string currency = entry.word("currency", "write its three letters, as \"USD\"");
  const bool code = currency.size() == 3 && std::all_of(currency.begin(), currency.end(),
                                                        [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!code)
    fail_user("{}: currency = \"{}\" must be its three capital letters, as \"USD\"", entry.place(), currency);
  return currency;
}

Price read_price(const Entry& entry) {
  Price price;
  price.provider = entry.word("provider", "write who sells it, as provider = \"example-cloud\"");
  price.device = entry.word("device", "write which device it is, as device = \"h100-sxm\"");
  price.currency = read_currency(entry);
  price.on_demand = entry.price("on_demand");
  price.spot = entry.price("spot");
  if (!price.on_demand && !price.spot)
    fail_user("{}: neither on_demand nor spot has a price; write at least one", entry.place());
  price.unit = read_unit(entry);
  const std::optional<int64_t> devices = entry.whole("devices_per_node");
  if (!devices && price.unit == BillingUnit::node_hour)
    fail_user("{}: devices_per_node is missing; unit = \"node_hour\" needs it", entry.place());
  price.devices_per_node = devices.value_or(1);
  price.date = entry.date();
  return price;
}

}  // namespace

std::chrono::sys_days read_date(const std::string& key, const std::string& text) {
  const auto day = day_named(text);
  if (!day || *day < std::chrono::sys_days(std::chrono::year(2000) / 1 / 1))
    fail_user("{} {} is no day; write it as 2026-01-15", key, text.empty() ? "\"\"" : text);
  return *day;
}

std::string to_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::vector<Price> parse_prices(const std::string& text, const std::string& name) {
  std::vector<Price> prices;
  for (const Setting& setting : parse_toml(text, name).settings) {
    const auto* list = std::get_if<TomlList>(&setting.value.value);
    if (setting.path != "price" || list == nullptr)
      fail_user("{}: {} is no key of a price file; it has [[price]] entries", setting.where, setting.path);
    for (const TomlValue& item : *list) {
      const auto* table = std::get_if<TomlTable>(&item.value);
      if (table == nullptr) fail_user("{}: price must be written as [[price]] entries", setting.where);
      prices.push_back(read_price(Entry(*table, fmt::format("{}, price {}", name, prices.size() + 1))));
    }
  }
  if (prices.empty()) fail_user("{}: it has no [[price]] entry", name);
  return prices;
}

std::vector<Price> load_prices(const std::string& path) {
  return parse_prices(read_text_file(path, "the price file"), path);
}

}  // namespace trireme
