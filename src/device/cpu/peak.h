// What this machine's matrix products reach.
#pragma once
#include "base/dtype.h"

namespace trireme {

// FLOP/s of `threads` threads in products of `dtype` with packed weights: the best that one thread reaches by
// its own CPU time in some tens of milliseconds, times the threads. Other programs on the machine hardly
// change it.
double measure_product_rate(DType dtype, int threads);

}  // namespace trireme
