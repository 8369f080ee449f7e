// ring_attention on the CPU: in step s a rank has the keys and values of the rank s places before it,
// computes with them, and meanwhile they go on to the next rank. In backward the gradients of the keys follow
// one step behind: a rank adds its part to what has come from the ranks before it, and after n steps they are
// home.
#include <cmath>

#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "ops/attention/cpu_blocks.h"

namespace trireme {
namespace {

// Messages to the next rank and from the last one.
class Ring {
 public:
  Ring(const ContextSizes& s, const AxisComm* comm)
      : comm_(comm),
        next_(static_cast<int>((s.a.at.rank + 1) % s.n)),
        last_(static_cast<int>((s.a.at.rank + s.n - 1) % s.n)) {}

  // Begins to send `from` on and to receive `to`.
  void pass(const void* from, void* to, int64_t bytes, const char* what) {
    const Send send{from, bytes, next_};
    const Recv recv{to, bytes, last_};
    ticket_ = submit(*comm_, [send, recv, what](Communicator& ranks) {
      ranks.exchange({&send, 1}, {&recv, 1}, what);
    });
  }
  // Until all that has been begun is done.
  void join() {
    if (ticket_ > 0) comm_->queue->wait(ticket_);
  }

 private:
  const AxisComm* comm_;
  int next_, last_;
  int64_t ticket_ = 0;
};

template <class T>
CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const BlockCall<T> call(sig, context);
  const ContextSizes s(sig);
  const int64_t slot_bytes = flash_forward_slot_bytes(s.chunk(), s.chunk(), call.l.D);
  return [=](const Operands& o) {
    RingBuffers b;
    carve_ring(b, o.scratch, sig, call.threads);
    Ring ring(s, o.comm);
    const T* qkv = o.in<T>(0);
    copy_keys(call, qkv, reinterpret_cast<T*>(b.kv[0]));
    std::fill_n(b.y, s.B * s.T * s.y_row(), 0.0f);
    std::fill_n(o.out<float>(1), s.B * s.a.attention.heads * s.T, -INFINITY);
    for (int64_t step = 0; step < s.n; ++step) {
      const int64_t owner = (s.a.at.rank - step + s.n) % s.n;
      std::byte *here = b.kv[step % 2], *arriving = b.kv[(step + 1) % 2];
      if (step + 1 < s.n) ring.pass(here, arriving, s.kv() * s.element, "keys of ring_attention");
      attend_blocks(call, pieces_of(s, owner, reinterpret_cast<const T*>(here), nullptr),
                    {.qkv = qkv,
                     .doc_start = o.in<int32_t>(1),
                     .y_sum = b.y,
                     .lse = o.out<float>(1),
                     .slots = b.slots,
                     .slot_bytes = slot_bytes});
      ring.join();
    }
    parallel_for(call.threads, s.B * s.T, 16, [&](int64_t begin, int64_t end) {
      narrow_rows(b.y + begin * s.y_row(), (end - begin) * s.y_row(), o.out<T>(0) + begin * s.y_row());
    });
  };
}

void add_to(float* sums, const float* more, int64_t count, int threads) {
  parallel_for(threads, count, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[i] += more[i];
  });
}

// dqkv from dq [B,T/n,H*D] and dk|dv [B,T/n,2KD].
template <class T>
void write_dqkv(const BlockCall<T>& call, const float* dq, const float* dkv, T* dqkv) {
  const AttentionLayout& l = call.l;
  const int64_t q = l.a.heads * l.D, kv = l.W - q;
  parallel_for(call.threads, l.B * l.T, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      narrow_rows(dq + i * q, q, dqkv + i * l.W);
      narrow_rows(dkv + i * kv, kv, dqkv + i * l.W + q);
    }
  });
}

template <class T>
CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const BlockCall<T> call(sig, context);
  const ContextSizes s(sig);
  const int64_t slot_bytes = flash_backward_slot_bytes(s.chunk(), s.chunk(), call.l.D);
  return [=](const Operands& o) {
    RingBuffers b;
    carve_ring_grad(b, o.scratch, sig, call.threads);
    Ring ring(s, o.comm);
    const T* qkv = o.in<T>(0);
    copy_keys(call, qkv, reinterpret_cast<T*>(b.kv[0]));
    std::fill_n(b.dq, s.B * s.T * s.y_row(), 0.0f);
    float *made = b.dkv[0], *leaving = b.dkv[1], *const arriving = b.dkv[2];
    const int64_t bytes = s.kv() * 4;
    for (int64_t step = 0; step < s.n; ++step) {
      const int64_t owner = (s.a.at.rank - step + s.n) % s.n;
      std::byte *here = b.kv[step % 2], *next = b.kv[(step + 1) % 2];
      if (step + 1 < s.n) ring.pass(here, next, s.kv() * s.element, "keys of ring_attention's gradient");
      if (step > 0) ring.pass(leaving, arriving, bytes, "key gradients of ring_attention");
      std::fill_n(made, s.kv(), 0.0f);
      differentiate_blocks(call, pieces_of(s, owner, reinterpret_cast<const T*>(here), made),
                           {.qkv = qkv,
                            .y = o.in<T>(1),
                            .dy = o.in<T>(3),
                            .lse = o.in<float>(2),
                            .doc_start = o.in<int32_t>(4),
                            .dq = b.dq,
                            .slots = b.slots,
                            .slot_bytes = slot_bytes});
      ring.join();
      if (step > 0) add_to(made, arriving, s.kv(), call.threads);
      std::swap(made, leaving);
    }
    if (s.n > 1) {
      ring.pass(leaving, arriving, bytes, "key gradients of ring_attention");
      ring.join();
    }
    write_dqkv(call, b.dq, s.n > 1 ? arriving : leaving, o.out<T>(0));
  };
}

}  // namespace

CpuKernel prepare_ring_attention(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? forward<bf16>(sig, context) : forward<float>(sig, context);
}

CpuKernel prepare_ring_attention_grad(const OpSig& sig, const CpuContext& context) {
  return sig.inputs[0].dtype == DType::bf16 ? backward<bf16>(sig, context) : backward<float>(sig, context);
}

}  // namespace trireme
