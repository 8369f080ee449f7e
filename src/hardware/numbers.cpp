// The list's keys.
#include "hardware/numbers.h"

namespace trireme {

std::vector<std::string> number_keys() {
  std::vector<std::string> keys;
  Hardware none;
  visit_numbers(none, [&](const NumberField& field, const auto&) { keys.emplace_back(field.key); });
  return keys;
}

}  // namespace trireme
