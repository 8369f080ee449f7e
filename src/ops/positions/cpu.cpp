// positions adds a row of the table to each row. positions_grad sums rows of dy that share a position in the
// order of the batch: threads take positions where each sequence counts 0, 1, ..., and columns where
// positions are given.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/embedding/cpu_row_sums.h"
#include "ops/positions/positions.h"

namespace trireme {

CpuKernel prepare_positions(const OpSig& sig, const CpuContext& context) {
  const Shape& shape = sig.inputs[0].shape;
  const int64_t rows = shape[0] * shape[1], length = shape[1], width = shape[2];
  const int64_t row_bytes = width * size_of(sig.inputs[0].dtype);
  const int64_t grain = std::max<int64_t>(1, 4096 / width);
  const auto add = row_sums(context.isa, sig.inputs[0].dtype).add;
  return [=, threads = context.threads](const Operands& operands) {
    const std::byte* x = operands.in<std::byte>(0);
    const std::byte* table = operands.in<std::byte>(1);
    const int32_t* positions = operands.in<int32_t>(2);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t p = positions != nullptr ? positions[r] : r % length;
        add(x + r * row_bytes, table + p * row_bytes, y + r * row_bytes, width);
      }
    });
  };
}

CpuKernel prepare_positions_grad(const OpSig& sig, const CpuContext& context) {
  const Shape& shape = sig.inputs[0].shape;
  const int64_t batch = shape[0], length = shape[1], width = shape[2];
  const int64_t element_bytes = size_of(sig.inputs[0].dtype);
  const int64_t grain = std::max<int64_t>(1, 4096 / width);
  const auto accumulate = row_sums(context.isa, sig.inputs[0].dtype).accumulate;
  return [=, threads = context.threads](const Operands& operands) {
    const std::byte* dy = operands.in<std::byte>(0);
    const int32_t* positions = operands.in<int32_t>(1);
    float* dtable = operands.out<float>(0);
    if (positions == nullptr) {
      parallel_for(threads, length, grain, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t)
          for (int64_t b = 0; b < batch; ++b)
            accumulate(dy + (b * length + t) * width * element_bytes, dtable + t * width, width);
      });
      return;
    }
    constexpr int64_t kColumns = 64;  // four cache lines of f32: threads do not share one
    parallel_for(threads, width, kColumns, [&](int64_t begin, int64_t end) {
      for (int64_t r = 0; r < batch * length; ++r)
        accumulate(dy + (r * width + begin) * element_bytes, dtable + positions[r] * width + begin,
                   end - begin);
    });
  };
}

}  // namespace trireme
