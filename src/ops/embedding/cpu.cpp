// embedding copies rows, or writes zeros for those of another part; embedding_grad adds rows into the table's
// gradient. Threads of embedding_grad take columns, not positions: each walks all tokens in order, so
// repeated ids meet in the same order whatever the number of threads.
#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/embedding/cpu_row_sums.h"
#include "ops/embedding/embedding.h"

namespace trireme {

CpuKernel prepare_embedding(const OpSig& sig, const CpuContext& context) {
  const int64_t rows = count(sig.inputs[0].shape), table_rows = sig.inputs[1].shape[0];
  const int64_t first = unpack_attrs<EmbeddingAttrs>(sig.attrs).first;
  const int64_t row_bytes = sig.inputs[1].shape[1] * size_of(sig.inputs[1].dtype);
  const int64_t grain = std::max<int64_t>(1, 16384 / row_bytes);
  return [=, threads = context.threads](const Operands& operands) {
    const int32_t* tokens = operands.in<int32_t>(0);
    const std::byte* table = operands.in<std::byte>(1);
    std::byte* y = operands.out<std::byte>(0);
    parallel_for(threads, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t row = tokens[r] - first;
        if (row >= 0 && row < table_rows)
          std::memcpy(y + r * row_bytes, table + row * row_bytes, static_cast<size_t>(row_bytes));
        else
          std::memset(y + r * row_bytes, 0, static_cast<size_t>(row_bytes));
      }
    });
  };
}

CpuKernel prepare_embedding_grad(const OpSig& sig, const CpuContext& context) {
  const int64_t rows = count(sig.inputs[0].shape), width = sig.inputs[1].shape[2];
  const auto a = unpack_attrs<EmbeddingGradAttrs>(sig.attrs);
  const int64_t element_bytes = size_of(sig.inputs[1].dtype);
  const auto accumulate = row_sums(context.isa, sig.inputs[1].dtype).accumulate;
  return [=, threads = context.threads](const Operands& operands) {
    const int32_t* tokens = operands.in<int32_t>(0);
    const std::byte* dy = operands.in<std::byte>(1);
    float* dtable = operands.out<float>(0);
    constexpr int64_t kColumns = 64;  // four cache lines of f32: threads do not share one
    parallel_for(threads, width, kColumns, [&](int64_t begin, int64_t end) {
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t row = tokens[r] - a.first;
        if (row >= 0 && row < a.vocab)
          accumulate(dy + (r * width + begin) * element_bytes, dtable + row * width + begin, end - begin);
      }
    });
  };
}

}  // namespace trireme
