// Communicator: how the ranks of one mesh axis move and sum data. The engine calls it; which backend lies
// behind (threads of one process, MPI) nobody above this line knows. Every call blocks until its buffers may
// be reused.
//
// Sums follow a fixed binary tree over ranks (comm/sum_tree.h), so the bits are the same on every backend.
// Calls on one communicator come from one thread at a time; members call in the same order, with the same
// sizes (another call or size is a bug and aborts). Communicators over the same ranks run concurrently and do
// not mix.
//
// `what` names the work in failure messages ("gradients of block 3"). Every call throws PeerFailed when a
// member fails or does not come in time; the communicator, and its world, are of no further use then.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/ending.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "comm/pieces.h"

namespace trireme {

// The message names the ranks, the call that waited for them and how long it waited.
struct PeerFailed : EnvError {
  PeerFailed(std::vector<int> failed, const std::string& message, int code = kEnvironment,
             FailureSaid failure_said = FailureSaid::not_yet)
      : EnvError(message), ranks(std::move(failed)), exit_code(code), said(failure_said) {}
  std::vector<int> ranks;  // of the world
  int exit_code;           // that of what the first of them met
  FailureSaid said;
};

struct Send {
  const void* from = nullptr;
  int64_t bytes = 0;
  int to = 0;  // rank in the communicator, another than the sender's
};

struct Recv {
  void* to = nullptr;
  int64_t bytes = 0;  // as sent
  int from = 0;
};

// The part for rank r lies behind those for the ranks before it; likewise the part from rank r.
struct AllToAll {
  const void* from = nullptr;
  std::span<const int64_t> from_bytes;  // by destination
  void* to = nullptr;
  std::span<const int64_t> to_bytes;  // by source
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // dtype: f32, f64, or bf16, which is summed in f32 and rounded once.

  // data[i] becomes the sum over ranks, on every rank.
  void all_reduce(void* data, int64_t count, DType dtype, std::string_view what);
  // `from` holds size() * count elements; `to` becomes the sum over ranks of its part rank(). In place is
  // to == from + rank() * count; other overlaps are not allowed.
  void reduce_scatter(const void* from, void* to, int64_t count, DType dtype, std::string_view what);
  // `to` becomes the ranks' `from` (`bytes` each) in order. In place is from == to + rank() * bytes.
  void all_gather(const void* from, void* to, int64_t bytes, std::string_view what);
  // Part r of `from` (`bytes` each) goes to rank r, as part rank() of its `to`. The buffers do not overlap.
  void all_to_all(const void* from, void* to, int64_t bytes, std::string_view what);
  void all_to_all(const AllToAll& parts, std::string_view what);
  virtual void broadcast(void* data, int64_t bytes, int root, std::string_view what) = 0;

  // All of them at once, at most one per peer and direction; two ranks that send to each other within
  // one exchange do not wait in a circle. Single ones may: send() may return only when it was received.
  void exchange(std::span<const Send> sends, std::span<const Recv> recvs, std::string_view what);
  void send(const void* from, int64_t bytes, int to, std::string_view what);
  void recv(void* to, int64_t bytes, int from, std::string_view what);

  virtual void barrier(std::string_view what) = 0;

  // Bytes that this rank has sent to others in the calls so far, broadcasts and barriers left out: what the
  // calls need, as a ring would move them, whatever the backend does.
  int64_t sent_bytes() const { return sent_bytes_.load(std::memory_order_relaxed); }
  // Seconds that these calls have taken so far, waiting for the other ranks included.
  double called_s() const { return 1e-9 * static_cast<double>(called_ns_.load(std::memory_order_relaxed)); }

 private:
  virtual void exchange_parts(const AllToAll& parts, std::string_view what) = 0;
  virtual void exchange_messages(std::span<const Send> sends, std::span<const Recv> recvs,
                                 std::string_view what) = 0;
  // `to` becomes the sum over ranks of `from`'s own piece; elements.
  virtual void reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                             std::string_view what) = 0;
  // Piece r of `to` becomes rank r's `from`; bytes.
  virtual void gather_pieces(const void* from, void* to, const Pieces& pieces, std::string_view what) = 0;

  class Call;  // counts one
  std::atomic<int64_t> sent_bytes_ = 0, called_ns_ = 0;
};

}  // namespace trireme
