// What was gathered for forward is gathered again for backward instead of being kept: of a value that
// backward reads and that an all_gather has made, the rank keeps its own slice, 1/n of the memory, and an
// all_gather in backward, in front of the first op that reads it, makes the whole again (Korthikanti et al.
// 2022, "Reducing Activation Recomputation in Large Transformer Models", section 4.2.2).
//
//   before:
//     value x.whole: saved
//     forward x.whole = all_gather(x)
//     backward w.grad = linear_grad_weight(x.whole, dy)
//
//   after:
//     value x: saved
//     forward x.whole = all_gather(x)
//     backward x.whole.again = all_gather(x)
//     backward w.grad = linear_grad_weight(x.whole.again, dy)
#pragma once
#include "ir/code.h"

namespace trireme {

void regather(Code& code, BackwardForm form);

}  // namespace trireme
