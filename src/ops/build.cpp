// Graph building by shape rules.
#include "ops/build.h"

namespace trireme {

std::vector<ValueId> add_op(Graph& graph, std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                            const std::vector<std::string>& output_names) {
  const std::vector<TensorType> types = op_def(kind).infer(attrs, types_of(inputs, graph.values));
  std::vector<ValueId> outputs(types.size());
  for (size_t i = 0; i < types.size(); ++i)
    if (i < output_names.size() && !output_names[i].empty())
      outputs[i] = add_value(graph, {output_names[i], types[i], ValueRole::local, {}});
  graph.ops.push_back({std::string(kind), std::move(attrs), std::move(inputs), outputs});
  return outputs;
}

void infer_types(Graph& graph) {
  for (const Op& op : graph.ops) {
    const std::vector<TensorType> types = op_def(op.kind).infer(op.attrs, types_of(op.inputs, graph.values));
    for (size_t i = 0; i < op.outputs.size(); ++i)
      if (op.outputs[i].valid()) graph.value(op.outputs[i]).type = types[i];
  }
}

}  // namespace trireme
