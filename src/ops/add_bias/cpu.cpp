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
  return [context, type = sig.inputs[0]](const Operands& operands) {
    sum_columns(context, type, operands.inputs[0], operands.out<float>(0));
  };
}

}  // namespace trireme
