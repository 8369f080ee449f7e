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
    const int64_t row = s.kv_row(), T_all = s.n * s.T;
    const std::vector<KeyPart<T>> all = {
        {.rows = T_all, .k = kv, .v = kv + row / 2, .row = row, .sequence = T_all * row}};
    attend_blocks(call, all,
                  {.qkv = qkv,
                   .doc_start = o.in<int32_t>(1),
                   .y = o.out<T>(0),
                   .lse = o.out<float>(1),
                   .slots = b.slots,
                   .slot_bytes = slot_bytes});
  };
}

template <class T>
CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const BlockCall<T> call(sig, context);
  const ContextSizes s(sig);
  const int64_t slot_bytes = flash_backward_slot_bytes(s.chunk(), s.chunk(), call.l.D);
  return [=](const Operands& o) {
    GatherBuffers b;
    carve_gather_grad(b, o.scratch, sig, call.threads);
    T* kv = reinterpret_cast<T*>(b.kv);
    const T* qkv = o.in<T>(0);
    gather_keys(call, s, o, qkv, kv);
    const int64_t row = s.kv_row(), T_all = s.n * s.T;
    std::vector<KeyPart<T>> pieces;
    for (int64_t owner = 0; owner < s.n; ++owner) {
      float* dkv = b.dkv + owner * s.kv();
      for (const RowRange& rows : context_rows(T_all, s.n, owner, ContextRows::zigzag)) {
        const T* k = kv + rows.begin * row;
        pieces.push_back({.begin = rows.begin,
                          .rows = rows.count,
                          .k = k,
                          .v = k + row / 2,
                          .row = row,
                          .sequence = T_all * row,
                          .dk = dkv,
                          .dv = dkv + row / 2,
                          .sum_sequence = s.T * row});
        dkv += rows.count * row;
      }
    }
    std::fill_n(b.dkv, s.n * s.kv(), 0.0f);
    std::fill_n(b.dq, s.B * s.T * s.y_row(), 0.0f);
    differentiate_blocks(call, pieces,
                         {.qkv = qkv,
                          .y = o.in<T>(1),
                          .dy = o.in<T>(3),
                          .lse = o.in<float>(2),
                          .doc_start = o.in<int32_t>(4),
                          .dq = b.dq,
                          .slots = b.slots,
                          .slot_bytes = slot_bytes});
    float* own = b.dkv + s.a.at.rank * s.kv();
    if (s.n > 1)
      o.comm->ranks->reduce_scatter(b.dkv, own, s.kv(), DType::f32, "key gradients of gather_attention");
    write_dqkv(call, b.dq, own, o.out<T>(0));
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
