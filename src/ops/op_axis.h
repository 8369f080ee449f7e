// Which mesh axis an op talks on: what its AxisAttrs (ops/placing.h) say, read without knowing the op.
#pragma once
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace trireme {

// "" where the op stays on its rank.
inline std::string_view axis_of(const Op& op) {
  const AttrValue* value = op.attrs.find("axis");
  const auto* name = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return name != nullptr ? std::string_view(*name) : std::string_view();
}

}  // namespace trireme
