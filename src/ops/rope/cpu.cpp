// rope on the CPU: cos and sin of the first T positions come from a table made by prepare, those of given
// positions beyond it are computed into scratch. Tokens are shared out among the threads.
#include <cstring>
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/rope/cpu_turns.h"
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
  RopeRow rotate;
  RopeTurns turns;

  // `spare` holds one row.
  void run(int64_t begin, int64_t end, const Operands& operands, float* spare) const {
    const int32_t* positions = operands.in<int32_t>(1);
    const int64_t token_bytes = (rotated + copied) * dim * size, copied_bytes = copied * dim * size;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* x = operands.in<std::byte>(0) + r * token_bytes;
      std::byte* y = operands.out<std::byte>(0) + r * token_bytes;
      const int64_t position = positions != nullptr ? positions[r] : r % length;
      rotate(x, y, turns.row(position, spare), rotated, dim);
      if (x != y)
        std::memcpy(y + token_bytes - copied_bytes, x + token_bytes - copied_bytes,
                    static_cast<size_t>(copied_bytes));
    }
  }
};

Rope make_rope(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<RopeAttrs>(sig.attrs);
  const TensorType& x = sig.inputs[0];
  return {.rows = x.shape[0] * x.shape[1],
          .length = x.shape[1],
          .rotated = attrs.heads + attrs.kv_heads,
          .copied = attrs.kv_heads,
          .dim = attrs.head_dim,
          .size = size_of(x.dtype),
          .rotate = pick_rope_row(rotary_layout(attrs), x.dtype, context.isa),
          .turns = RopeTurns(attrs, x.shape[1])};
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
                spare == nullptr ? nullptr : spare + begin * rope->turns.row_floats());
    });
  };
}

}  // namespace trireme
