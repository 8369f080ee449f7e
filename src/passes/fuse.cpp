// Finds each norm whose input an add makes and puts the fused op in the add's place.
#include "passes/fuse.h"

#include <string_view>

namespace trireme {
namespace {

std::string_view fused_name(std::string_view norm) {
  if (norm == "layernorm") return "add_layernorm";
  if (norm == "rmsnorm") return "add_rmsnorm";
  return "";
}

// The op that makes `value`, or ops.size().
size_t maker_of(const Graph& graph, ValueId value) {
  for (size_t i = 0; i < graph.ops.size(); ++i)
    for (const ValueId output : graph.ops[i].outputs)
      if (output == value) return i;
  return graph.ops.size();
}

}  // namespace

void fuse_add_norm(Graph& graph) {
  for (size_t n = 0; n < graph.ops.size(); ++n) {
    const std::string_view fused = fused_name(graph.ops[n].kind);
    if (fused.empty()) continue;
    const size_t a = maker_of(graph, graph.ops[n].inputs[0]);
    if (a == graph.ops.size() || graph.ops[a].kind != "add") continue;
    const Op norm = graph.ops[n];
    Op& add = graph.ops[a];
    Op joined{std::string(fused), norm.attrs, add.inputs, add.outputs};
    joined.inputs.insert(joined.inputs.end(), norm.inputs.begin() + 1, norm.inputs.end());
    joined.outputs.insert(joined.outputs.end(), norm.outputs.begin(), norm.outputs.end());
    add = std::move(joined);
    graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(n));
    --n;
  }
}

}  // namespace trireme
