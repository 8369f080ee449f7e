// What an op's cpu.cpp provides: a function that turns a signature into a kernel. device/cpu/table.cpp lists
// them. A kernel is called by one thread and spreads itself over the context's threads; its result does
// not depend on how many there are.
#pragma once
#include <functional>

#include "device/cpu/isa.h"
#include "ops/op.h"

namespace trireme {

struct CpuContext {
  int threads = 1;
  CpuIsa isa = CpuIsa::baseline;  // the best that the machine has, or less in tests
};

// No allocation when called: what it needs lies in the operands or was made by prepare.
using CpuKernel = std::function<void(const Operands&)>;

using PrepareCpuKernel = CpuKernel (*)(const OpSig& sig, const CpuContext& context);

// nullptr when the op has no CPU kernel.
PrepareCpuKernel find_cpu_kernel(std::string_view op);

}  // namespace trireme
