// Small operations on Graphs.
#include "ir/graph.h"

#include <algorithm>
#include <array>

namespace trireme {

std::string_view name_of(ValueRole role) {
  constexpr std::array<std::string_view, 12> kNames = {"input", "output", "input_grad", "output_grad",
                                                       "batch", "param",  "param_grad", "prepared",
                                                       "state", "saved",  "held",       "local"};
  return kNames[static_cast<size_t>(role)];
}

ValueId add_value(Graph& graph, Value value) {
  graph.values.push_back(std::move(value));
  return ValueId(static_cast<int64_t>(graph.values.size()) - 1);
}

bool reads(const Op& op, ValueId value) {
  return std::find(op.inputs.begin(), op.inputs.end(), value) != op.inputs.end();
}

std::vector<ValueId> values_with(const std::vector<Value>& values, ValueRole role) {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].role == role) ids.push_back(ValueId(static_cast<int64_t>(i)));
  return ids;
}

}  // namespace trireme
