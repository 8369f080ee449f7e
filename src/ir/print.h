// The line of one op, for texts and messages.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace trireme {

// "y, mean, rstd = layernorm(x, weight, _) {eps=1e-05}"
std::string op_text(const Op& op, const std::vector<Value>& values);

}  // namespace trireme
