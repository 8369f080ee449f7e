// activation and activation_grad on the CPU: elements are shared out among the threads.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/activation/activation.h"
#include "ops/activation/simd_kernels.h"

namespace trireme {

ActivationKernels activation_kernels_baseline(ActivationKind kind, DType dtype) {
  return activation_kernels_here(kind, dtype);
}

namespace {

constexpr int64_t kGrain = 4096;  // elements

ActivationKernels pick(const OpSig& sig, const CpuContext& context) {
  const auto name = unpack_attrs<ActivationAttrs>(sig.attrs).kind;
  const ActivationKind kind = name == "gelu_tanh" ? ActivationKind::gelu_tanh
                              : name == "gelu"    ? ActivationKind::gelu
                                                  : ActivationKind::relu2;
  const DType dtype = sig.inputs[0].dtype;
  if (context.isa >= CpuIsa::avx512_bf16) return activation_kernels_avx512_bf16(kind, dtype);
  if (context.isa >= CpuIsa::avx512) return activation_kernels_avx512(kind, dtype);
  if (context.isa >= CpuIsa::avx2) return activation_kernels_avx2(kind, dtype);
  return activation_kernels_baseline(kind, dtype);
}

}  // namespace

CpuKernel prepare_activation(const OpSig& sig, const CpuContext& context) {
  const int64_t n = count(sig.inputs[0].shape), size = size_of(sig.inputs[0].dtype);
  return [=, threads = context.threads, loop = pick(sig, context).forward](const Operands& operands) {
    const std::byte* x = operands.in<std::byte>(0);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, n, kGrain,
                 [&](int64_t begin, int64_t end) { loop(x + begin * size, y + begin * size, end - begin); });
  };
}

CpuKernel prepare_activation_grad(const OpSig& sig, const CpuContext& context) {
  const int64_t n = count(sig.inputs[0].shape), size = size_of(sig.inputs[0].dtype);
  return [=, threads = context.threads, loop = pick(sig, context).backward](const Operands& operands) {
    const std::byte* x = operands.in<std::byte>(0);
    const std::byte* dy = operands.in<std::byte>(1);
    std::byte* dx = operands.out<std::byte>(0);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      loop(x + begin * size, dy + begin * size, dx + begin * size, end - begin);
    });
  };
}

}  // namespace trireme
