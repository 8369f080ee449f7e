// What forward has computed is computed again in backward instead of being kept: the ops that made it run
// once more, in front of the first op that reads it, from what is kept or there anyway. Kernels give the same
// bits each time, so no number of a run changes.
//
//   before:                                      after:
//     value up: saved                              value up: saved
//     value hidden: saved                          value hidden: local
//     forward hidden = activation(up)              forward hidden = activation(up)
//                                                  backward hidden.again = activation(up)
//     backward dw = linear_grad_weight(hidden, dy) backward dw = linear_grad_weight(hidden.again, dy)
//
// Only what backward needs is run again: never the product that a layer ends in. Block inputs and parameters
// are there in backward and cost nothing. A collective is repeated on every rank of its axis alike, since all
// of them have the same ops.
#pragma once
#include <cstdint>

#include "ir/code.h"

namespace trireme {

// Which ops may run again. Of those that may, one does not where its outputs take no more memory than what it
// would need kept instead.
enum class Rerun : uint8_t {
  // all_gathers: a rank keeps its own slice, 1/n (Korthikanti et al. 2022, "Reducing Activation Recomputation
  // in Large Transformer Models", section 4.2.2).
  gathers,
  // And ops that are cheap for the size of what they make: norms, activations, rotations; no product, no
  // attention, no other collective. The paper's section 5 picks attention's scores by that measure; they are
  // never kept here.
  cheap,
  // And all others: nothing is kept but the block's inputs (Chen et al. 2016, "Training Deep Nets with
  // Sublinear Memory Cost").
  all,
};

// Before: Code as autodiff leaves it, not packed yet. After: `saved` are the values that backward, or an op
// that runs again, reads and that do not run again. Such an op belongs to the weight part of backward where
// that alone reads what it leads to, and it reads no parameter (whose gathering the weight part would then
// wait for); else to the input part, and what it hands to the weight part is `held`.
void recompute(Code& code, BackwardForm form, Rerun which);

}  // namespace trireme
