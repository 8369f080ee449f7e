// Products beside their collectives on the CPU: this thread multiplies, the axis's queue moves the next chunk
// or sums up the last one. Two chunks are under way at most. Each rank's rows of a chunk are a product of
// their own, since they lie apart in the whole.
#include <algorithm>
#include <memory>

#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "device/cpu/parallel_copy.h"
#include "device/cpu/weight_product.h"
#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

// The product of a chunk's rows of one rank, or of all rows of a rank that is alone. Kernels are copied, and
// the copies share its primitives.
std::shared_ptr<WeightProduct> make_product(const OpSig& sig, const ChunkSizes& s,
                                            const CpuContext& context) {
  const bool forward = unpack_attrs<OverlapAttrs>(sig.attrs).use == "forward";
  const WeightProductSpec spec{.weight = {forward ? s.n : s.k, forward ? s.k : s.n, sig.inputs[1].dtype,
                                          forward ? WeightUse::forward : WeightUse::input_grad},
                               .rows = s.ranks == 1 ? s.rows : s.chunk_rows(),
                               .packed = is_packed(sig.inputs[1]),
                               .bias = sig.inputs.size() > 2 && present(sig.inputs[2]),
                               .out = sig.outputs[0].dtype};
  return std::make_shared<WeightProduct>(spec, context);
}

void multiply(const WeightProduct& product, const Operands& o, const void* x, void* y) {
  product.run({.a = x,
               .b = o.inputs[1],
               .c = y,
               .bias = o.inputs.size() > 2 ? o.inputs[2] : nullptr,
               .scratch = o.scratch});
}

// The rows of the other ranks, chunk by chunk: in their places in the whole where that is kept, else in two
// halves of scratch in turns.
class Arrivals {
 public:
  Arrivals(const ChunkSizes& s, const Operands& o, std::byte* halves)
      : s_(s),
        comm_(o.comm),
        x_(o.in<std::byte>(0)),
        whole_(o.outputs.size() > 1 ? o.out<std::byte>(1) : nullptr),
        halves_(halves) {}

  const std::byte* rows(int64_t owner, int64_t chunk) const {
    return owner == s_.rank ? own(chunk) : place(owner, chunk);
  }

  // Begins to send this rank's rows of a chunk to all others, and to receive theirs.
  void begin(int64_t chunk) {
    ticket_ = submit(*comm_, [this, chunk](Communicator& ranks) {
      std::vector<Send> sends;
      std::vector<Recv> recvs;
      for (int64_t away = 1; away < s_.ranks; ++away) {
        const int64_t to = (s_.rank + away) % s_.ranks, from = (s_.rank + s_.ranks - away) % s_.ranks;
        sends.push_back({own(chunk), bytes(), static_cast<int>(to)});
        recvs.push_back({place(from, chunk), bytes(), static_cast<int>(from)});
      }
      ranks.exchange(sends, recvs, "rows of gather_linear");
    });
  }
  // This rank's own rows too are kept.
  void keep_own(int threads) const {
    if (whole_ != nullptr)
      parallel_copy(threads, x_, whole_ + s_.rank * s_.rows * s_.x_row, s_.rows * s_.x_row);
  }
  // Until the chunk that was begun last is there.
  void wait() { comm_->queue->wait(ticket_); }

 private:
  int64_t bytes() const { return s_.chunk_rows() * s_.x_row; }
  const std::byte* own(int64_t chunk) const { return x_ + chunk * bytes(); }
  std::byte* place(int64_t owner, int64_t chunk) const {
    if (whole_ != nullptr) return whole_ + (owner * s_.chunks + chunk) * bytes();
    const int64_t slot = owner < s_.rank ? owner : owner - 1;  // none for this rank's own
    return halves_ + chunk % 2 * s_.arriving_bytes() + slot * bytes();
  }

  const ChunkSizes& s_;
  const AxisComm* comm_;
  const std::byte* x_;
  std::byte *whole_, *halves_;
  int64_t ticket_ = 0;
};

}  // namespace

// A chunk travels while the other ranks' rows of the one before it and this rank's own are multiplied.
CpuKernel prepare_gather_linear(const OpSig& sig, const CpuContext& context) {
  const ChunkSizes s = gather_linear_sizes(sig);
  const auto product = make_product(sig, s, context);
  if (s.ranks == 1)
    return [=, threads = context.threads](const Operands& o) {
      multiply(*product, o, o.inputs[0], o.outputs[0]);
      if (o.outputs.size() > 1 && o.outputs[1] != nullptr)
        parallel_copy(threads, o.in<std::byte>(0), o.out<std::byte>(1), s.rows * s.x_row);
    };
  return [=, threads = context.threads,
          product_bytes = product_scratch_bytes(s.k, context.threads)](const Operands& o) {
    Arrivals arrivals(s, o, o.scratch + product_bytes);
    const auto multiply_rows = [&](int64_t owner, int64_t chunk) {
      const int64_t row = (owner * s.chunks + chunk) * s.chunk_rows();
      multiply(*product, o, arrivals.rows(owner, chunk), o.out<std::byte>(0) + row * s.y_row);
    };
    arrivals.begin(0);
    arrivals.keep_own(threads);
    for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
      multiply_rows(s.rank, chunk);
      arrivals.wait();
      if (chunk + 1 < s.chunks) arrivals.begin(chunk + 1);
      for (int64_t owner = 0; owner < s.ranks; ++owner)
        if (owner != s.rank) multiply_rows(owner, chunk);
    }
  };
}

// A chunk's addends are summed over ranks while the next one's are made in the other half of scratch.
CpuKernel prepare_linear_scatter(const OpSig& sig, const CpuContext& context) {
  const ChunkSizes s = linear_scatter_sizes(sig);
  const auto product = make_product(sig, s, context);
  if (s.ranks == 1) return [product](const Operands& o) { multiply(*product, o, o.inputs[0], o.outputs[0]); };
  return [=, dtype = sig.outputs[0].dtype,
          product_bytes = product_scratch_bytes(s.k, context.threads)](const Operands& o) {
    const int64_t rows = s.chunk_rows();
    int64_t tickets[2] = {0, 0};
    for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
      std::byte* addends = o.scratch + product_bytes + chunk % 2 * s.leaving_bytes();
      if (chunk >= 2) o.comm->queue->wait(tickets[chunk % 2]);
      for (int64_t owner = 0; owner < s.ranks; ++owner)
        multiply(*product, o, o.in<std::byte>(0) + (owner * s.chunks + chunk) * rows * s.x_row,
                 addends + owner * rows * s.y_row);
      std::byte* sums = o.out<std::byte>(0) + chunk * rows * s.y_row;
      tickets[chunk % 2] = submit(*o.comm, [=, n = rows * s.n](Communicator& ranks) {
        ranks.reduce_scatter(addends, sums, n, dtype, "addends of linear_scatter");
      });
    }
    o.comm->queue->wait(std::max(tickets[0], tickets[1]));
  };
}

}  // namespace trireme
