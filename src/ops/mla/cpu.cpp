// mla_qkv, mla_values and their gradients on the CPU: copies, a rotation per query head, and one of the
// shared key. Tokens are shared out among the threads.
#include <cstring>
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/mla/mla.h"
#include "ops/mla/simd_kernels.h"
#include "ops/rope/cpu_turns.h"

namespace trireme {

MlaKernels mla_kernels_baseline(DType dtype) { return mla_kernels_here(dtype); }

namespace {

MlaKernels pick(DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return mla_kernels_avx512_bf16(dtype);
  if (isa >= CpuIsa::avx512) return mla_kernels_avx512(dtype);
  if (isa >= CpuIsa::avx2) return mla_kernels_avx2(dtype);
  return mla_kernels_baseline(dtype);
}

void copy_bytes(std::byte* to, const std::byte* from, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

void zero_bytes(std::byte* to, int64_t bytes) { std::memset(to, 0, static_cast<size_t>(bytes)); }

// What one call needs; made by prepare and never changed. Sizes of parts of a head are in bytes.
struct Latent {
  int64_t rows, length, heads, rope_dim, head_dim;
  int64_t nope, rope, values, head;
  RopeRow rotate;  // of the compute dtype
  RopeRow rotate_f32;
  MlaKernels kernels;
  RopeTurns turns;

  int64_t key_value() const { return nope + values; }

  const float* turn(const int32_t* positions, int64_t row, float* spare) const {
    return turns.row(positions != nullptr ? positions[row] : row % length, spare);
  }

  void assemble(const Operands& operands, int64_t row, float* spare) const {
    const float* angles = turn(operands.in<int32_t>(3), row, spare);
    const std::byte* q = operands.in<std::byte>(0) + row * heads * head;
    const std::byte* kv = operands.in<std::byte>(1) + row * heads * key_value();
    const std::byte* shared = operands.in<std::byte>(2) + row * rope;
    std::byte* to_q = operands.out<std::byte>(0) + row * 3 * heads * head;
    std::byte *to_k = to_q + heads * head, *to_v = to_k + heads * head;
    for (int64_t h = 0; h < heads; ++h) {
      copy_bytes(to_q + h * head, q + h * head, nope);
      rotate(q + h * head + nope, to_q + h * head + nope, angles, 1, rope_dim);
      copy_bytes(to_k + h * head, kv + h * key_value(), nope);
      if (h == 0)
        rotate(shared, to_k + nope, angles, 1, rope_dim);
      else
        copy_bytes(to_k + h * head + nope, to_k + nope, rope);
      copy_bytes(to_v + h * head, kv + h * key_value() + nope, values);
      zero_bytes(to_v + h * head + values, head - values);
    }
  }

  // `spare` holds a row of angles, then rope_dim sums.
  void take_apart(const Operands& operands, int64_t row, float* spare) const {
    const float* angles = turn(operands.in<int32_t>(1), row, spare);
    float* sum = spare + 2 * rope_dim;
    const std::byte* dq = operands.in<std::byte>(0) + row * 3 * heads * head;
    const std::byte *dk = dq + heads * head, *dv = dk + heads * head;
    std::byte* to_q = operands.out<std::byte>(0) + row * heads * head;
    std::byte* to_kv = operands.out<std::byte>(1) + row * heads * key_value();
    for (int64_t h = 0; h < heads; ++h) {
      copy_bytes(to_q + h * head, dq + h * head, nope);
      rotate(dq + h * head + nope, to_q + h * head + nope, angles, 1, rope_dim);
      copy_bytes(to_kv + h * key_value(), dk + h * head, nope);
      copy_bytes(to_kv + h * key_value() + nope, dv + h * head, values);
    }
    kernels.sum_heads(dk + nope, heads, head_dim, rope_dim, sum);
    rotate_f32(sum, sum, angles, 1, rope_dim);
    kernels.store(sum, operands.out<std::byte>(2) + row * rope, rope_dim);
  }
};

enum class Direction : uint8_t { forward, backward };

std::shared_ptr<const Latent> make_latent(const OpSig& sig, const CpuContext& context, Direction direction) {
  auto attrs = unpack_attrs<MlaQkvAttrs>(sig.attrs);
  attrs.rope.inverse = direction == Direction::backward ? 1 : 0;
  const TensorType& first = sig.inputs[0];
  const int64_t size = size_of(first.dtype);
  const RotaryLayout layout = rotary_layout(attrs.rope);
  // Shared by the copies of the std::function that holds it.
  return std::make_shared<const Latent>(Latent{.rows = first.shape[0] * first.shape[1],
                                               .length = first.shape[1],
                                               .heads = attrs.rope.heads,
                                               .rope_dim = attrs.rope.head_dim,
                                               .head_dim = attrs.head_dim(),
                                               .nope = attrs.nope_dim * size,
                                               .rope = attrs.rope.head_dim * size,
                                               .values = attrs.v_dim * size,
                                               .head = attrs.head_dim() * size,
                                               .rotate = pick_rope_row(layout, first.dtype, context.isa),
                                               .rotate_f32 = pick_rope_row(layout, DType::f32, context.isa),
                                               .kernels = pick(first.dtype, context.isa),
                                               .turns = RopeTurns(attrs.rope, first.shape[1])});
}

// body(row, spare), with `spare_floats` of scratch for each thread where there is scratch.
template <class Body>
void for_rows(int64_t threads, int64_t rows, int64_t row_bytes, const Operands& operands,
              int64_t spare_floats, const Body& body) {
  auto* scratch = reinterpret_cast<float*>(operands.scratch);
  const int64_t pieces = rows * row_bytes < 16384 ? 1 : threads;
  parallel_for(static_cast<int>(threads), pieces, 1, [&](int64_t begin, int64_t end) {
    float* spare = scratch == nullptr ? nullptr : scratch + begin * spare_floats;
    for (int64_t r = rows * begin / pieces; r < rows * end / pieces; ++r) body(r, spare);
  });
}

}  // namespace

CpuKernel prepare_mla_qkv(const OpSig& sig, const CpuContext& context) {
  const auto latent = make_latent(sig, context, Direction::forward);
  return [latent, threads = context.threads](const Operands& operands) {
    for_rows(threads, latent->rows, 3 * latent->heads * latent->head, operands, 2 * latent->rope_dim,
             [&](int64_t row, float* spare) { latent->assemble(operands, row, spare); });
  };
}

CpuKernel prepare_mla_qkv_grad(const OpSig& sig, const CpuContext& context) {
  const auto latent = make_latent(sig, context, Direction::backward);
  return [latent, threads = context.threads](const Operands& operands) {
    for_rows(threads, latent->rows, 3 * latent->heads * latent->head, operands, 3 * latent->rope_dim,
             [&](int64_t row, float* spare) { latent->take_apart(operands, row, spare); });
  };
}

CpuKernel prepare_mla_values(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(sig.attrs);
  const int64_t size = size_of(sig.inputs[0].dtype), rows = count(sig.outputs[0].shape) / attrs.v_dim;
  return [=, wide = attrs.head_dim * size, narrow = attrs.v_dim * size,
          threads = context.threads](const Operands& operands) {
    for_rows(threads, rows, wide, operands, 0, [&](int64_t row, float*) {
      copy_bytes(operands.out<std::byte>(0) + row * narrow, operands.in<std::byte>(0) + row * wide, narrow);
    });
  };
}

CpuKernel prepare_mla_values_grad(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(sig.attrs);
  const int64_t size = size_of(sig.inputs[0].dtype), rows = count(sig.inputs[0].shape) / attrs.v_dim;
  return [=, wide = attrs.head_dim * size, narrow = attrs.v_dim * size,
          threads = context.threads](const Operands& operands) {
    for_rows(threads, rows, wide, operands, 0, [&](int64_t row, float*) {
      std::byte* dx = operands.out<std::byte>(0) + row * wide;
      copy_bytes(dx, operands.in<std::byte>(0) + row * narrow, narrow);
      zero_bytes(dx + narrow, wide - narrow);
    });
  };
}

}  // namespace trireme
