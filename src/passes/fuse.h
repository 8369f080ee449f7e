// Joins a residual add with the norm that reads its sum, so that the sum is not read back from memory.
//
//   before: op s = add(a, b)                          any number of other users of s
//           op y, mean, rstd = layernorm(s, w, c) {eps=1e-05}
//   after:  op s, y, mean, rstd = add_layernorm(a, b, w, c) {eps=1e-05}       likewise add_rmsnorm
//
// Holds before and after: the Graph is verified and computes the same.
#pragma once
#include "ir/graph.h"

namespace trireme {

void fuse_add_norm(Graph& graph);

}  // namespace trireme
