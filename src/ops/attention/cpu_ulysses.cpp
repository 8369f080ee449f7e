// ulysses_attention on the CPU: all-to-all from slices by rows to slices by heads, plain attention of whole
// sequences with the rank's heads, all-to-all back. Sequences go one by one, so that one is on its way while
// another is computed.
#include <cstring>
#include <numeric>

#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/attention/context_buffers.h"

namespace trireme {
namespace {

// The rank's slices of whole sequences, on their way to and from the other ranks.
class Exchange {
 public:
  Exchange(const ContextSizes& s, const Operands& o, int threads) : s_(s), comm_(o.comm), threads_(threads) {}

  // Gathers doc_start of whole sequences, where there is one.
  void gather_documents(void* own, const UlyssesBuffers& b) {
    documents_ = static_cast<int32_t*>(own);
    if (own == nullptr || s_.n == 1) return;
    comm_->ranks->all_gather(own, b.docs_by_rank, s_.B * s_.T * size_of(DType::i32),
                             "documents of ulysses_attention");
    for (int64_t rank = 0; rank < s_.n; ++rank)
      for (int64_t i = 0; i < s_.B; ++i)
        std::copy_n(b.docs_by_rank + (rank * s_.B + i) * s_.T, s_.T, b.docs + (i * s_.n + rank) * s_.T);
    documents_ = b.docs;
  }
  // Of sequence i; null where there is none.
  int32_t* documents(int64_t i) const {
    return documents_ != nullptr ? documents_ + i * s_.n * s_.T : nullptr;
  }

  // Begins: a sequence's `bytes`, parts by destination at `from`, by source at `to`. Returns what wait()
  // takes.
  int64_t begin(const std::byte* from, std::byte* to, int64_t bytes) {
    if (s_.n == 1) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
      return 0;
    }
    return submit(*comm_, [from, to, part = bytes / s_.n](Communicator& ranks) {
      ranks.all_to_all(from, to, part, "heads of ulysses_attention");
    });
  }
  void wait(int64_t ticket) {
    if (ticket > 0) comm_->queue->wait(ticket);
  }

  // Rows whose bytes come in `groups` (q, k and v, or y alone) to parts by destination, and back:
  // parts[rank][t] is that rank's heads of each group.
  void to_parts(const std::byte* rows, const std::vector<int64_t>& groups, std::byte* parts) const {
    each_slice(groups,
               [&](int64_t row, int64_t part, size_t n) { std::memcpy(parts + part, rows + row, n); });
  }
  void from_parts(const std::byte* parts, const std::vector<int64_t>& groups, std::byte* rows) const {
    each_slice(groups,
               [&](int64_t row, int64_t part, size_t n) { std::memcpy(rows + row, parts + part, n); });
  }

 private:
  template <class Move>
  void each_slice(const std::vector<int64_t>& groups, const Move& move) const {
    const int64_t row = std::accumulate(groups.begin(), groups.end(), int64_t{0});
    parallel_for(threads_, s_.T, 16, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        int64_t group = t * row, at = 0;
        for (const int64_t bytes : groups) {
          const int64_t part = bytes / s_.n;
          for (int64_t rank = 0; rank < s_.n; ++rank)
            move(group + rank * part, (rank * s_.T + t) * (row / s_.n) + at, static_cast<size_t>(part));
          group += bytes, at += part;
        }
      }
    });
  }

  ContextSizes s_;
  int32_t* documents_ = nullptr;  // [B,T]
  const AxisComm* comm_;
  int threads_;
};

struct RowBytes {
  std::vector<int64_t> qkv, y;     // groups
  int64_t qkv_all = 0, y_all = 0;  // of one sequence's T/n rows
  explicit RowBytes(const ContextSizes& s) {
    const int64_t kv = s.kv_row() / 2 * s.element, q = s.y_row() * s.element;
    qkv = {q, kv, kv}, y = {q};
    qkv_all = s.T * (q + 2 * kv), y_all = s.T * q;
  }
};

std::byte* bytes_at(void* p, int64_t offset) { return static_cast<std::byte*>(p) + offset; }

CpuKernel forward(const OpSig& sig, const CpuContext& context) {
  const ContextSizes s(sig);
  const RowBytes bytes(s);
  const OpSig inner = ulysses_inner(sig);
  const CpuKernel attend = prepare_attention(inner, context);
  const int64_t lse_bytes = bytes_of(inner.outputs[1]);
  return [=, threads = context.threads](const Operands& o) {
    UlyssesBuffers b;
    carve_ulysses(b, o.scratch, sig, threads);
    Exchange exchange(s, o, threads);
    exchange.gather_documents(o.inputs[1], b);
    std::vector<int64_t> there, back;
    for (int64_t i = 0; i < s.B; ++i) {
      std::byte* parts = b.parts + i * bytes.qkv_all;
      exchange.to_parts(bytes_at(o.inputs[0], i * bytes.qkv_all), bytes.qkv, parts);
      there.push_back(exchange.begin(parts, b.qkv + i * bytes.qkv_all, bytes.qkv_all));
    }
    for (int64_t i = 0; i < s.B; ++i) {
      exchange.wait(there[static_cast<size_t>(i)]);
      std::byte* y = b.y + i * bytes.y_all;
      void* const in[] = {b.qkv + i * bytes.qkv_all, exchange.documents(i)};
      void* const out[] = {y, bytes_at(o.outputs[1], i * lse_bytes)};
      attend({in, out, b.inner});
      back.push_back(exchange.begin(y, b.parts + i * bytes.y_all, bytes.y_all));
    }
    for (int64_t i = 0; i < s.B; ++i) {
      exchange.wait(back[static_cast<size_t>(i)]);
      exchange.from_parts(b.parts + i * bytes.y_all, bytes.y, bytes_at(o.outputs[0], i * bytes.y_all));
    }
  };
}

CpuKernel backward(const OpSig& sig, const CpuContext& context) {
  const ContextSizes s(sig);
  const RowBytes bytes(s);
  const OpSig inner = ulysses_inner(sig);
  const CpuKernel differentiate = prepare_attention_grad(inner, context);
  const int64_t lse_bytes = bytes_of(inner.inputs[2]);
  return [=, threads = context.threads](const Operands& o) {
    UlyssesBuffers b;
    carve_ulysses_grad(b, o.scratch, sig, threads);
    Exchange exchange(s, o, threads);
    exchange.gather_documents(o.inputs[4], b);
    std::vector<int64_t> there, back;
    for (int64_t i = 0; i < s.B; ++i) {
      const int64_t qkv = i * bytes.qkv_all, y = i * bytes.y_all;
      exchange.to_parts(bytes_at(o.inputs[0], qkv), bytes.qkv, b.parts + qkv);
      exchange.to_parts(bytes_at(o.inputs[1], y), bytes.y, b.y_parts + y);
      exchange.to_parts(bytes_at(o.inputs[3], y), bytes.y, b.dy_parts + y);
      exchange.begin(b.parts + qkv, b.qkv + qkv, bytes.qkv_all);
      exchange.begin(b.y_parts + y, b.y + y, bytes.y_all);
      there.push_back(exchange.begin(b.dy_parts + y, b.dy + y, bytes.y_all));
    }
    for (int64_t i = 0; i < s.B; ++i) {
      exchange.wait(there[static_cast<size_t>(i)]);
      const int64_t qkv = i * bytes.qkv_all, y = i * bytes.y_all;
      void* const in[] = {b.qkv + qkv, b.y + y, bytes_at(o.inputs[2], i * lse_bytes), b.dy + y,
                          exchange.documents(i)};
      void* const out[] = {b.dqkv + qkv};
      differentiate({in, out, b.inner});
      back.push_back(exchange.begin(b.dqkv + qkv, b.parts + qkv, bytes.qkv_all));
    }
    for (int64_t i = 0; i < s.B; ++i) {
      exchange.wait(back[static_cast<size_t>(i)]);
      exchange.from_parts(b.parts + i * bytes.qkv_all, bytes.qkv, bytes_at(o.outputs[0], i * bytes.qkv_all));
    }
  };
}

}  // namespace

CpuKernel prepare_ulysses_attention(const OpSig& sig, const CpuContext& context) {
  return forward(sig, context);
}

CpuKernel prepare_ulysses_attention_grad(const OpSig& sig, const CpuContext& context) {
  return backward(sig, context);
}

}  // namespace trireme
