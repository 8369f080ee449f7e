// Chooses the compute dtype: activations and the compute copies of parameters become `compute`; statistics,
// losses and gradients of parameters keep the types that the shape rules give them.
//
//   before: x: input f32[4,64,64]          every value f32, as the model was written
//   after:  x: input bf16[4,64,64]         locals follow by the shape rules; rstd stays f32
#pragma once
#include "ir/graph.h"

namespace trireme {

// Where embeddings look rows up: in the compute copy, or in the f32 master weights, which are then there
// whole (the rows are rounded once they are read: the same bits, and no copy of the table).
enum class TableReads : uint8_t { copy, master };

void apply_precision(Graph& graph, DType compute, TableReads tables = TableReads::copy);

}  // namespace trireme
