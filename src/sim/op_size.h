// The size by which an op's time is looked up in measured curves (hardware/hardware.h).
#pragma once
#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace trireme {

// {rows, in, out} of products, heads of one rank x sequences, positions and head dim of attention,
// {rows, width, vocabulary} of the head, {rows, width, hidden} of experts; {bytes read and written} of the
// rest.
std::vector<int64_t> size_of_op(const OpSig& sig);

}  // namespace trireme
