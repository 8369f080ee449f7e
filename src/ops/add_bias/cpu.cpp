// add_bias on the CPU: rows are shared out among the threads; of its gradient, columns.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/embedding/cpu_row_sums.h"
#include "ops/linear/column_sums.h"

namespace trireme {

CpuKernel prepare_add_bias(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / width;
  const int64_t row_bytes = width * size_of(dtype), grain = std::max<int64_t>(1, 16384 / width);
  return [=, add = row_sums(context.isa, dtype).add, threads = context.threads](const Operands& operands) {
    const auto* x = operands.in<std::byte>(0);
    auto* y = operands.out<std::byte>(0);
    parallel_for(threads, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        add(x + r * row_bytes, operands.inputs[1], y + r * row_bytes, width);
    });
  };
}

CpuKernel prepare_add_bias_grad(const OpSig& sig, const CpuContext& context) {
  const bool half = sig.inputs[0].dtype == DType::bf16;
  const int64_t width = sig.inputs[0].shape.back(), rows = count(sig.inputs[0].shape) / width;
  const ColumnSums sums = context.isa >= CpuIsa::avx512 ? column_sums_avx512()
                          : context.isa >= CpuIsa::avx2 ? column_sums_avx2()
                                                        : column_sums_baseline();
  return [=, threads = context.threads](const Operands& operands) {
    constexpr int64_t kColumns = 64;  // that a kernel sums at once
    auto* dbias = operands.out<float>(0);
    parallel_for(threads, width, kColumns, [&](int64_t begin, int64_t end) {
      if (half)
        sums.of_bf16(operands.in<bf16>(0), rows, width, begin, end, dbias);
      else
        sums.of_f32(operands.in<float>(0), rows, width, begin, end, dbias);
    });
  };
}

}  // namespace trireme
