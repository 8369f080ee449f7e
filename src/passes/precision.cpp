// Sets the dtype at the edges of a Graph and lets the shape rules carry it inwards.
#include "passes/precision.h"

#include "ops/build.h"

namespace trireme {

void apply_precision(Graph& graph, DType compute) {
  for (Value& value : graph.values)
    if ((value.role == ValueRole::input || value.role == ValueRole::param) && value.type.dtype == DType::f32)
      value.type.dtype = compute;
  infer_types(graph);
}

}  // namespace trireme
