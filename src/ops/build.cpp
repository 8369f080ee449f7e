// Graph building by shape rules.
#include "ops/build.h"

namespace trireme {
namespace {

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorType> types;
  for (const ValueId id : ids) types.push_back(id.valid() ? graph.value(id).type : absent_type());
  return types;
}

}  // namespace

std::vector<ValueId> add_op(Graph& graph, std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                            const std::vector<std::string>& output_names) {
  const std::vector<TensorType> types = op_def(kind).infer(attrs, types_of(graph, inputs));
  std::vector<ValueId> outputs(types.size());
  for (size_t i = 0; i < types.size(); ++i)
    if (i < output_names.size() && !output_names[i].empty())
      outputs[i] = add_value(graph, {output_names[i], types[i], ValueRole::local, {}});
  graph.ops.push_back({std::string(kind), std::move(attrs), std::move(inputs), outputs});
  return outputs;
}

void infer_types(Graph& graph) {
  for (const Op& op : graph.ops) {
    const std::vector<TensorType> types = op_def(op.kind).infer(op.attrs, types_of(graph, op.inputs));
    for (size_t i = 0; i < op.outputs.size(); ++i)
      if (op.outputs[i].valid()) graph.value(op.outputs[i]).type = types[i];
  }
}

}  // namespace trireme
