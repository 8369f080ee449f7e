// Cuts the inside of a block over ranks: from a Graph written for one device to the Graph of one rank, with
// the shapes of its parts and the collectives between them. Parameters are placed by their roles
// (ir/param_cut.h), activations by the ops' placement rules (ops/placing.h); where a rule wants a value
// elsewhere than it lies, a redistribute moves it, once for all who want it there.
//
//   before:
//     value x: input f32[2,8,16]
//     op h = linear(x, up, _) {in=16, out=64}
//     op y = linear(h, down, _) {in=64, out=16}
//
//   after, on a rank of tp = 2, with sequence:
//     value x: input f32[1,8,16] tp=rows
//     op x.tp.whole = all_gather(x)
//     op h = linear(x.tp.whole, up, _) {in=16, out=32}       h: tp=shard(2)
//     op y = linear(h, down, _) {in=32, out=16}              y: tp=partial
//     op y.tp.rows = reduce_scatter(y)
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
