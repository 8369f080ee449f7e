// Runs a list of ops with the oracles, in f32: how tests evaluate a graph and its gradient without a device.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "ops/harness/values.h"

namespace trireme {

// One entry per value of `values`, in order. Entries that are empty on entry are made: zeros for
// accumulators, else what an op writes.
void interpret(const std::vector<Op>& ops, const std::vector<Value>& values, std::vector<Values>& contents);

}  // namespace trireme
