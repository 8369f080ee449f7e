// What this machine's matrix products reach.
#pragma once
#include "base/dtype.h"

namespace trireme {

// FLOP/s of the best of a few products of 1536 x 1536 x 1536 in `dtype` with a plain operand layout; takes
// some tens of milliseconds.
double measure_product_rate(DType dtype, int threads);

}  // namespace trireme
