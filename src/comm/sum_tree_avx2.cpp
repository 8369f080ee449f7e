// sum_tree's loops, compiled for AVX2.
#include "comm/sum_tree_loops.h"

namespace trireme {

SumLoops sum_loops_avx2() { return loops_named("avx2"); }

}  // namespace trireme
