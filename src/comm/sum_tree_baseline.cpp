// sum_tree's loops, compiled for any x86-64.
#include "comm/sum_tree_loops.h"

namespace trireme {

SumLoops sum_loops_baseline() { return loops_named("baseline"); }

}  // namespace trireme
