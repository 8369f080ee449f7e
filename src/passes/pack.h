// Packs weights once per unshard, not once per micro-batch: a product that reads a plain parameter reads a
// packed copy instead, which the `prepare` list makes.
//
//   before: forward y = linear(x, w, _) {in=64, out=64}
//   after:  prepare w.forward = pack(w) {use="forward"}
//           forward y = linear(x, w.forward, _) {in=64, out=64}
//
// Two products that want the same packing of a parameter share one copy.
#pragma once
#include "ir/code.h"

namespace trireme {

void pack_weights(Code& code);

}  // namespace trireme
