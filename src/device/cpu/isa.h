// Instruction sets that kernels are compiled for; each includes the ones before it.
#pragma once
#include <cstdint>
#include <string_view>

namespace trireme {

enum class CpuIsa : uint8_t { baseline, avx2, avx512, avx512_bf16, amx };

std::string_view name_of(CpuIsa isa);

// The best that this machine and its operating system can run. For amx, the kernel's permission to use tile
// registers is asked for as well.
CpuIsa detect_isa();

}  // namespace trireme
