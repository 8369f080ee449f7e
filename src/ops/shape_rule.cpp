// The message of a broken shape rule.
#include "ops/shape_rule.h"

#include <fmt/format.h>

#include <stdexcept>

namespace trireme {

void refuse_types(std::string_view op, std::string_view rule, std::span<const TensorType> inputs) {
  std::string given;
  for (const TensorType& type : inputs) {
    if (!given.empty()) given += ", ";
    given += present(type) ? to_string(type) : "absent";
  }
  throw std::invalid_argument(fmt::format("{}: {}; given {}", op, rule, given));
}

}  // namespace trireme
