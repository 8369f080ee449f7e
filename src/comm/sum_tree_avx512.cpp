// sum_tree's loops, compiled for AVX512.
#include "comm/sum_tree_loops.h"

namespace trireme {

SumLoops sum_loops_avx512() { return loops_named("avx512"); }

}  // namespace trireme
