// Sets the dtype at the edges of a Graph and lets the shape rules carry it inwards.
#include "passes/precision.h"

#include "ops/build.h"
#include "ops/cast/cast.h"
#include "ops/op.h"

namespace trireme {
namespace {

// y = embedding(tokens, table) becomes y.f32 = embedding(tokens, table), y = cast(y.f32).
void read_tables_in_f32(Graph& graph, DType compute) {
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].kind != "embedding" || graph.value(graph.ops[i].inputs[1]).role != ValueRole::param)
      continue;
    const ValueId y = graph.ops[i].outputs[0];
    Value rows = graph.value(y);
    rows.name += ".f32";
    rows.role = ValueRole::local;
    const ValueId unrounded = add_value(graph, std::move(rows));
    graph.value(graph.ops[i].inputs[1]).type.dtype = DType::f32;
    graph.ops[i].outputs[0] = unrounded;
    const Attrs to = pack_attrs(CastAttrs{std::string(name_of(compute))});
    graph.ops.insert(graph.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     Op{"cast", to, {unrounded}, {y}});
  }
}

void keep_masters(Graph& graph) {
  for (const Op& op : graph.ops) {
    const OpDef& def = op_def(op.kind);
    for (size_t i = 0; i < op.inputs.size(); ++i)
      if (def.inputs[i].master && op.inputs[i].valid()) graph.value(op.inputs[i]).type.dtype = DType::f32;
  }
}

}  // namespace

void apply_precision(Graph& graph, DType compute, TableReads tables) {
  for (Value& value : graph.values)
    if ((value.role == ValueRole::input || value.role == ValueRole::param) && value.type.dtype == DType::f32)
      value.type.dtype = compute;
  keep_masters(graph);
  if (tables == TableReads::master && compute != DType::f32) read_tables_in_f32(graph, compute);
  infer_types(graph);
}

}  // namespace trireme
