// Every op's CPU entry, defined in ops/NAME/cpu.cpp.
#pragma once
#include "device/cpu/kernel.h"

namespace trireme {

CpuKernel prepare_attention(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_attention_grad(const OpSig& sig, const CpuContext& context);
CpuKernel prepare_cached_attention(const OpSig& sig, const CpuContext& context);

}  // namespace trireme
