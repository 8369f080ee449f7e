// Puts the collectives of tensor parallelism beside the products that they feed or end, in chunks of rows
// (ops/overlap/overlap.h). Runs on finished Code, after recompute and pack.
//
//   before: x.whole = all_gather(x)           a = linear(x.whole, up, _)
//           y.addend = linear(h, down, _)     y = reduce_scatter(y.addend)
//   after:  a, _ = gather_linear(x, up, _)    y = linear_scatter(h, down)
//
// A gather goes into the product that reads it first, or stays as it is where something else does; where
// others read it too, or another section, the product makes it as its second output. A product is joined with
// its reduce_scatter where nobody else reads the addends. The same holds for linear_grad_input. Joined ops
// stand in the product's place, in its part of backward.
#pragma once
#include "ir/code.h"

namespace trireme {

// `chunks` divides the rows that a rank has of every value cut by rows on tp.
void overlap_collectives(Code& code, int64_t chunks);

}  // namespace trireme
