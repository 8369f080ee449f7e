// Asks the processor, through the compiler's built-ins, and the kernel for AMX tile permission.
#include "device/cpu/isa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cpuid.h>
#include <array>

namespace trireme {
namespace {

// arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA): Linux hands out tile registers on request only.
bool tiles_granted() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (d & (1u << 22)) != 0 && (d & (1u << 24)) != 0;  // amx-bf16, amx-tile
}

}  // namespace

std::string_view name_of(CpuIsa isa) {
  constexpr std::array<std::string_view, 5> kNames = {"baseline", "avx2", "avx512", "avx512_bf16", "amx"};
  return kNames[static_cast<size_t>(isa)];
}

CpuIsa detect_isa() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return CpuIsa::baseline;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return CpuIsa::avx2;
  if (!__builtin_cpu_supports("avx512bf16")) return CpuIsa::avx512;
  return has_amx_bf16() && tiles_granted() ? CpuIsa::amx : CpuIsa::avx512_bf16;
}

}  // namespace trireme
