// rope on the CPU: cos and sin of the first T positions come from a table made by prepare, those of given
// positions beyond it are computed into scratch. Tokens are shared out among the threads.
#include <cmath>
#include <cstring>
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/rope/rope.h"
#include "ops/rope/simd_kernels.h"

namespace trireme {

RopeRow rope_row_baseline(RotaryLayout layout, DType dtype) { return rope_row_here(layout, dtype); }

namespace {

// What one call needs; made by prepare and never changed.
struct Rope {
  int64_t rows, length;          // B * T and T
  int64_t rotated, copied, dim;  // heads per token, elements per head
  int64_t size;                  // bytes per element
  int64_t row_floats;            // of the table
  RotaryLayout layout;
  RopeRow rotate;
  double amplitude, sign;
  std::vector<double> frequencies;
  std::vector<float> table;  // `length` rows

  void fill_row(int64_t position, float* row) const {
    for (int64_t i = 0; i < dim / 2; ++i) {
      const double angle = static_cast<double>(position) * frequencies[static_cast<size_t>(i)];
      const auto cos = static_cast<float>(amplitude * std::cos(angle));
      const auto sin = static_cast<float>(amplitude * sign * std::sin(angle));
      if (layout == RotaryLayout::half) {
        row[i] = cos;
        row[dim / 2 + i] = sin;
      } else {
        row[2 * i] = row[2 * i + 1] = cos;
        row[dim + 2 * i] = -sin;
        row[dim + 2 * i + 1] = sin;
      }
    }
  }

  // `spare` holds one row.
  void run(int64_t begin, int64_t end, const Operands& operands, float* spare) const {
    const int32_t* positions = operands.in<int32_t>(1);
    const int64_t token_bytes = (rotated + copied) * dim * size, copied_bytes = copied * dim * size;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* x = operands.in<std::byte>(0) + r * token_bytes;
      std::byte* y = operands.out<std::byte>(0) + r * token_bytes;
      const int64_t position = positions != nullptr ? positions[r] : r % length;
      const bool in_table = position < length;
      if (!in_table) fill_row(position, spare);
      rotate(x, y, in_table ? table.data() + position * row_floats : spare, rotated, dim);
      if (x != y)
        std::memcpy(y + token_bytes - copied_bytes, x + token_bytes - copied_bytes,
                    static_cast<size_t>(copied_bytes));
    }
  }
};

RopeRow pick(RotaryLayout layout, DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return rope_row_avx512_bf16(layout, dtype);
  if (isa >= CpuIsa::avx512) return rope_row_avx512(layout, dtype);
  if (isa >= CpuIsa::avx2) return rope_row_avx2(layout, dtype);
  return rope_row_baseline(layout, dtype);
}

Rope make_rope(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<RopeAttrs>(sig.attrs);
  const TensorType& x = sig.inputs[0];
  const RotaryLayout layout = attrs.layout == "half" ? RotaryLayout::half : RotaryLayout::interleaved;
  Rope rope{.rows = x.shape[0] * x.shape[1],
            .length = x.shape[1],
            .rotated = attrs.heads + attrs.kv_heads,
            .copied = attrs.kv_heads,
            .dim = attrs.head_dim,
            .size = size_of(x.dtype),
            .row_floats = layout == RotaryLayout::half ? attrs.head_dim : 2 * attrs.head_dim,
            .layout = layout,
            .rotate = pick(layout, x.dtype, context.isa),
            .amplitude = rope_amplitude(attrs),
            .sign = attrs.inverse != 0 ? -1.0 : 1.0,
            .frequencies = rope_frequencies(attrs),
            .table = {}};
  rope.table.resize(static_cast<size_t>(rope.length * rope.row_floats));
  for (int64_t t = 0; t < rope.length; ++t) rope.fill_row(t, rope.table.data() + t * rope.row_floats);
  return rope;
}

}  // namespace

CpuKernel prepare_rope(const OpSig& sig, const CpuContext& context) {
  // Shared by the copies of the std::function that holds it.
  const auto rope = std::make_shared<const Rope>(make_rope(sig, context));
  return [rope, threads = int64_t{context.threads}](const Operands& operands) {
    auto* spare = reinterpret_cast<float*>(operands.scratch);
    // A piece per thread, so that each has a spare row of its own.
    const int64_t pieces = rope->rows * rope->rotated * rope->dim < 4096 ? 1 : threads;
    parallel_for(static_cast<int>(threads), pieces, 1, [&](int64_t begin, int64_t end) {
      rope->run(rope->rows * begin / pieces, rope->rows * end / pieces, operands,
                spare == nullptr ? nullptr : spare + begin * rope->row_floats);
    });
  };
}

}  // namespace trireme
