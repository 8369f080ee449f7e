// Where the scratch of attention over the context axis keeps what: the same code counts the bytes (in the
// ops' definitions) and hands out the pointers (in the kernels).
#pragma once
#include <algorithm>

#include "ops/attention/context.h"
#include "ops/attention/flash_buffers.h"

namespace trireme {
namespace {

// Sizes of a call, in elements.
struct ContextSizes {
  ContextAttrs a;
  int64_t n = 1, B = 0, T = 0;  // T: of the rank
  int64_t element = 0;          // bytes of one
  explicit ContextSizes(const OpSig& sig)
      : a(unpack_attrs<ContextAttrs>(sig.attrs)),
        n(a.at.ranks),
        B(sig.inputs[0].shape[0]),
        T(sig.inputs[0].shape[1]),
        element(static_cast<int64_t>(size_of(sig.inputs[0].dtype))) {}
  int64_t width() const { return qkv_width(a.attention); }
  int64_t kv_row() const { return 2 * a.attention.kv_heads * a.attention.head_dim; }
  int64_t y_row() const { return a.attention.heads * a.attention.head_dim; }
  int64_t kv() const { return B * T * kv_row(); }  // of one rank
  // Rows of the longest contiguous piece.
  int64_t chunk() const { return n == 1 ? T : T / 2; }
};

struct RingBuffers {
  std::byte *kv[2] = {}, *slots = nullptr;  // keys and values of a rank: [B,T/n,2KD], at hand and arriving
  float* y = nullptr;                       // forward: sums so far
  float* dq = nullptr;                      // backward
  float* dkv[3] = {};                       // backward, as kv: made here, leaving, arriving
};

inline int64_t carve_ring(RingBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.kv() * s.element, b.kv[0], b.kv[1]);
  carver.take(s.B * s.T * s.y_row(), b.y);
  carver.take(threads * flash_forward_slot_bytes(s.chunk(), s.chunk(), s.a.attention.head_dim), b.slots);
  return carver.used;
}

inline int64_t carve_ring_grad(RingBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.kv() * s.element, b.kv[0], b.kv[1]);
  carver.take(s.B * s.T * s.y_row(), b.dq);
  carver.take(s.kv(), b.dkv[0], b.dkv[1], b.dkv[2]);
  carver.take(threads * flash_backward_slot_bytes(s.chunk(), s.chunk(), s.a.attention.head_dim), b.slots);
  return carver.used;
}

struct GatherBuffers {
  std::byte *kv = nullptr, *slots = nullptr;  // keys and values of the whole sequences, in order: [B,T,2KD]
  float* dkv = nullptr;                       // backward, likewise
};

inline int64_t carve_gather(GatherBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.n * s.kv() * s.element, b.kv);
  carver.take(threads * flash_forward_slot_bytes(s.chunk(), s.n * s.T, s.a.attention.head_dim), b.slots);
  return carver.used;
}

inline int64_t carve_gather_grad(GatherBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.n * s.kv() * s.element, b.kv);
  carver.take(s.n * s.kv(), b.dkv);
  carver.take(threads * flash_backward_slot_bytes(s.chunk(), s.n * s.T, s.a.attention.head_dim), b.slots);
  return carver.used;
}

// Slices by heads, the rank's heads over whole sequences, are [B,T,...]; slices by rows on their way are
// [B,n,T/n,...]. Either has the size of what the rank holds outside.
struct UlyssesBuffers {
  int32_t *docs_by_rank = nullptr, *docs = nullptr;                     // [n,B,T/n] and [B,T]
  std::byte *parts = nullptr, *y_parts = nullptr, *dy_parts = nullptr;  // by rows, on their way
  std::byte *qkv = nullptr, *y = nullptr, *dy = nullptr, *dqkv = nullptr;
  std::byte* inner = nullptr;
};

inline int64_t carve_ulysses(UlyssesBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  const OpSig inner = ulysses_inner(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.n * s.B * s.T, b.docs_by_rank, b.docs);
  carver.take(s.B * s.T * s.width() * s.element, b.parts, b.qkv);
  carver.take(s.B * s.T * s.y_row() * s.element, b.y);
  carver.take(op_def(inner.kind).scratch_bytes(inner, threads), b.inner);
  return carver.used;
}

inline int64_t carve_ulysses_grad(UlyssesBuffers& b, void* base, const OpSig& sig, int threads) {
  const ContextSizes s(sig);
  const OpSig inner = ulysses_inner(sig);
  Carver carver{static_cast<char*>(base)};
  carver.take(s.n * s.B * s.T, b.docs_by_rank, b.docs);
  carver.take(s.B * s.T * s.width() * s.element, b.parts, b.qkv, b.dqkv);
  carver.take(s.B * s.T * s.y_row() * s.element, b.y_parts, b.dy_parts, b.y, b.dy);
  carver.take(op_def(inner.kind).scratch_bytes(inner, threads), b.inner);
  return carver.used;
}

}  // namespace
}  // namespace trireme
