// The FLOPs that a rank's devices really do, by the Program: those that hardware FLOPs utilisation (HFU)
// counts, recomputation included (Korthikanti et al. 2022, section 5; MFU's are in model/flops.h).
#pragma once
#include <cstdint>

#include "ir/program.h"

namespace trireme {

// Of all forward and backward ops that this rank runs in the timeline, over its micro-batches. An op that
// several ranks share counts its even share (ops/op.h), so the whole run's are the sum over ranks. Unlike
// MFU's, which leaves out all but products and counts attention over the whole square, these are what the
// ops' definitions say: norms and activations are in, attention has the pairs that a mask leaves.
int64_t program_flops(const Program& program, const Timeline& timeline);

// Likewise of one block for one micro-batch, forward and backward: by which stages are balanced.
int64_t block_flops(const Code& code);

}  // namespace trireme
