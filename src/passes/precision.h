// Chooses the compute dtype: activations and the compute copies of parameters become `compute`; statistics,
// losses and gradients of parameters keep the types that the shape rules give them.
//
//   before: x: input f32[4,64,64]          every value f32, as the model was written
//   after:  x: input bf16[4,64,64]         locals follow by the shape rules; rstd stays f32
#pragma once
#include "ir/graph.h"

namespace trireme {

void apply_precision(Graph& graph, DType compute);

}  // namespace trireme
