// swiglu and swiglu_grad on the CPU: rows are shared out among the threads.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/swiglu/simd_kernels.h"

namespace trireme {

SwigluKernels swiglu_kernels_baseline(DType dtype) { return swiglu_kernels_here(dtype); }

namespace {

SwigluKernels pick(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  if (context.isa >= CpuIsa::avx512_bf16) return swiglu_kernels_avx512_bf16(dtype);
  if (context.isa >= CpuIsa::avx512) return swiglu_kernels_avx512(dtype);
  if (context.isa >= CpuIsa::avx2) return swiglu_kernels_avx2(dtype);
  return swiglu_kernels_baseline(dtype);
}

struct Rows {
  int64_t rows, width, row_bytes, grain;  // width and bytes of F elements
};

Rows rows_of(const OpSig& sig) {
  const int64_t width = sig.inputs[0].shape.back() / 2;
  return {.rows = count(sig.inputs[0].shape) / (2 * width),
          .width = width,
          .row_bytes = width * size_of(sig.inputs[0].dtype),
          .grain = std::max<int64_t>(1, 2048 / width)};
}

}  // namespace

CpuKernel prepare_swiglu(const OpSig& sig, const CpuContext& context) {
  const Rows s = rows_of(sig);
  return [s, threads = context.threads, loop = pick(sig, context).forward](const Operands& operands) {
    const std::byte* gate_up = operands.in<std::byte>(0);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, s.rows, s.grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) loop(gate_up + r * 2 * s.row_bytes, y + r * s.row_bytes, s.width);
    });
  };
}

CpuKernel prepare_swiglu_grad(const OpSig& sig, const CpuContext& context) {
  const Rows s = rows_of(sig);
  return [s, threads = context.threads, loop = pick(sig, context).backward](const Operands& operands) {
    const std::byte* gate_up = operands.in<std::byte>(0);
    const std::byte* dy = operands.in<std::byte>(1);
    std::byte* dgate_up = operands.out<std::byte>(0);
    parallel_for(threads, s.rows, s.grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        loop(gate_up + r * 2 * s.row_bytes, dy + r * s.row_bytes, dgate_up + r * 2 * s.row_bytes, s.width);
    });
  };
}

}  // namespace trireme
