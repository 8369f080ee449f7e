// gather_attention on the CPU: every rank sends its keys and values to all others, each piece straight to its
// place in the whole sequence; the gradients of all keys are summed over ranks at the end.
#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "ops/attention/cpu_blocks.h"

namespace trireme {
namespace {

// One piece of one sequence at a time: ranks send one message to each other in an exchange.
template <class T>
void gather_keys(const BlockCall<T>& call, const ContextSizes& s, const Operands& o, const T* qkv, T* kv) {
  const AttentionLayout& l = call.l;
  const int64_t row = s.kv_row(), T_all = s.n * s.T;
  for (int64_t b = 0; b < l.B; ++b)
    for (const QueryPart& own : call.queries) {
      T* to = kv + (b * T_all + own.begin) * row;
      const T* from = qkv + (b * l.T + own.at) * l.W + l.a.heads * l.D;
      for (int64_t i = 0; i < own.rows; ++i) std::copy_n(from + i * l.W, row, to + i * row);
    }
  if (s.n == 1) return;
  for (int64_t b = 0; b < l.B; ++b)
    for (size_t piece = 0; piece < call.queries.size(); ++piece) {
      std::vector<Send> sends;
      std::vector<Recv> recvs;
      const int64_t bytes = call.queries[piece].rows * row * s.element;
      for (int64_t step = 1; step < s.n; ++step) {
        const int64_t next = (s.a.at.rank + step) % s.n, last = (s.a.at.rank - step + s.n) % s.n;
        const RowRange theirs = context_rows(T_all, s.n, last, ContextRows::zigzag)[piece];
        sends.push_back({kv + (b * T_all + call.queries[piece].begin) * row, bytes, static_cast<int>(next)});
        recvs.push_back({kv + (b * T_all + theirs.begin) * row, bytes, static_cast<int>(last)});
      }
      o.comm->ranks->exchange(sends, recvs, "keys of gather_attention");
    }
}

template <class T>
CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const BlockCall<T> call(sig, context);
  const ContextSizes s(sig);
  const int64_t slot_bytes = flash_forward_slot_bytes(s.chunk(), s.n * s.T, call.l.D);
  return [=](const Operands& o) {
    GatherBuffers b;
    carve_gather(b, o.scratch, sig, call.threads);
    T* kv = reinterpret_cast<T*>(b.kv);
    const T* qkv = o.in<T>(0);
    gather_keys(call, s, o, qkv, kv);
    const int64_t T_all = s.n * s.T;
    attend_blocks(call, {key_part<T>(s, {0, T_all}, T_all, kv, nullptr)},
                  {.qkv = qkv,
                   .doc_start = o.in<int32_t>(1),
                   .y = o.out<T>(0),
                   .lse = o.out<float>(1),
                   .slots = b.slots,
                   .slot_bytes = slot_bytes});
  };
}

// Sums the gradients of all keys [B,T,2KD] over ranks: each rank has those of its own rows then, as pieces in
// the same buffer. The first n chunks lie in the order of their owners; the others are turned round first.
// Returns where piece p of sequence 0 lies.
std::vector<float*> scatter_gradients(const ContextSizes& s, const Operands& o, float* dkv) {
  if (s.n == 1) return {dkv};
  const int64_t piece = s.T / 2 * s.kv_row(), half = s.n * piece;
  for (int64_t b = 0; b < s.B; ++b) {
    float *first = dkv + b * 2 * half, *second = first + half;
    for (int64_t i = 0; i < s.n / 2; ++i)
      std::swap_ranges(second + i * piece, second + (i + 1) * piece, second + (s.n - 1 - i) * piece);
    for (float* part : {first, second})
      o.comm->ranks->reduce_scatter(part, part + s.a.at.rank * piece, piece, DType::f32,
                                    "key gradients of gather_attention");
  }
  return {dkv + s.a.at.rank * piece, dkv + half + s.a.at.rank * piece};
}

template <class T>
CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const BlockCall<T> call(sig, context);
  const ContextSizes s(sig);
  const int64_t slot_bytes = flash_backward_slot_bytes(s.chunk(), s.n * s.T, call.l.D);
  return [=](const Operands& o) {
    GatherBuffers b;
    carve_gather_grad(b, o.scratch, sig, call.threads);
    T* kv = reinterpret_cast<T*>(b.kv);
    T* dqkv = o.out<T>(0);
    gather_keys(call, s, o, o.in<T>(0), kv);
    const int64_t row = s.kv_row(), T_all = s.n * s.T;
    std::fill_n(b.dkv, s.n * s.kv(), 0.0f);
    differentiate_blocks(call, {key_part<T>(s, {0, T_all}, T_all, kv, b.dkv)},
                         {.qkv = o.in<T>(0),
                          .y = o.in<T>(1),
                          .dy = o.in<T>(3),
                          .lse = o.in<float>(2),
                          .doc_start = o.in<int32_t>(4),
                          .dqkv = dqkv,
                          .slots = b.slots,
                          .slot_bytes = slot_bytes});
    const std::vector<float*> own = scatter_gradients(s, o, b.dkv);
    parallel_for(call.threads, s.B * s.T, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t t = i % s.T, chunk = s.chunk();
        const float* from = own[static_cast<size_t>(t / chunk)] + (i / s.T * T_all + t % chunk) * row;
        narrow_rows(from, row, dqkv + i * call.l.W + s.y_row());
      }
    });
  };
}

}  // namespace

CpuKernel prepare_gather_attention(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? forward<bf16>(sig, context) : forward<float>(sig, context);
}

CpuKernel prepare_gather_attention_grad(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? backward<bf16>(sig, context) : backward<float>(sig, context);
}

}  // namespace trireme
