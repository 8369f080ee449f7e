// A signature as one line: the key under which devices share kernels, and what messages say.
#pragma once
#include <string>

#include "ops/op.h"

namespace trireme {

// "bf16[4,64,64] = linear(bf16[4,64,64], bf16[4096], f32[0]) {in=64, out=64}"
std::string sig_text(const OpSig& sig);

}  // namespace trireme
