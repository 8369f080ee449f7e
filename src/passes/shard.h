// Cuts the inside of a block over ranks: from a Graph written for one device to the Graph of one rank, with
// the shapes of its parts and the collectives between them. Parameters are placed by their roles
// (ir/param_cut.h), activations by the ops' placement rules (ops/placing.h); where a rule wants a value
// elsewhere than it lies, a redistribute moves it, once for all who want it there.
//
//   before: x: input f32[2,8,16]     h = linear(x, up)  {in=16, out=64}    y = linear(h, down) {in=64,
//   out=16} after, tp = 2 with sequence:     x: input f32[1,8,16] tp=rows
//           x.whole = all_gather(x)  h = linear(x.whole, up) {in=16, out=32}   tp=shard(2)
//           y.sum = linear(h, down) {in=32, out=16}   tp=partial               y = reduce_scatter(y.sum)
//
// Runs before precision; autodiff then turns each redistribute into its adjoint.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/param_cut.h"

namespace trireme {

struct ShardPlan {
  ParamAxes params;
  int64_t cp = 1, cp_rank = 0;
  std::string cp_mode = "ring";  // ring | allgather | ulysses
  bool sequence = false;         // activations between layers are cut by rows over tp
};

// uses: of the graph's values of role param, in order. What does not divide is a bug here: the config has
// been checked.
void shard(Graph& graph, const std::vector<ParamUse>& uses, const ShardPlan& plan);

}  // namespace trireme
