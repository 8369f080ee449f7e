// The calls that every backend builds from the same two: all-reduce is a reduce-scatter of pieces, then an
// all-gather.
#include "comm/communicator.h"

#include <vector>

#include "base/clock.h"
#include "comm/sum_tree.h"

namespace trireme {

constexpr int64_t kCacheLineBytes = 64;

class Communicator::Call {
 public:
  Call(Communicator& communicator, int64_t sent_bytes)
      : communicator_(communicator), start_s_(seconds_now()) {
    communicator_.sent_bytes_.fetch_add(sent_bytes, std::memory_order_relaxed);
  }
  Call(const Call&) = delete;
  ~Call() {
    communicator_.called_ns_.fetch_add(static_cast<int64_t>(1e9 * (seconds_now() - start_s_)),
                                       std::memory_order_relaxed);
  }

 private:
  Communicator& communicator_;
  double start_s_;
};

void Communicator::all_reduce(void* data, int64_t count, DType dtype, std::string_view what) {
  check_summable(dtype);
  const int64_t element_bytes = size_of(dtype);
  const Pieces pieces = cut(count, size(), kCacheLineBytes / element_bytes);
  const Call call(*this, 2 * (size() - 1) * count / size() * element_bytes);
  std::byte* own = static_cast<std::byte*>(data) + pieces.begin(rank()) * element_bytes;
  reduce_pieces(data, own, pieces, dtype, what);
  const Pieces bytes{.count = count * element_bytes, .length = pieces.length * element_bytes};
  gather_pieces(own, data, bytes, what);
}

void Communicator::reduce_scatter(const void* from, void* to, int64_t count, DType dtype,
                                  std::string_view what) {
  check_summable(dtype);
  const Call call(*this, (size() - 1) * count * size_of(dtype));
  reduce_pieces(from, to, {.count = count * size(), .length = count}, dtype, what);
}

void Communicator::all_gather(const void* from, void* to, int64_t bytes, std::string_view what) {
  const Call call(*this, (size() - 1) * bytes);
  gather_pieces(from, to, {.count = bytes * size(), .length = bytes}, what);
}

void Communicator::all_to_all(const void* from, void* to, int64_t bytes, std::string_view what) {
  const std::vector<int64_t> parts(static_cast<size_t>(size()), bytes);
  all_to_all({.from = from, .from_bytes = parts, .to = to, .to_bytes = parts}, what);
}

void Communicator::all_to_all(const AllToAll& parts, std::string_view what) {
  int64_t bytes = 0;
  for (size_t r = 0; r < parts.from_bytes.size(); ++r)
    if (static_cast<int>(r) != rank()) bytes += parts.from_bytes[r];
  const Call call(*this, bytes);
  exchange_parts(parts, what);
}

void Communicator::exchange(std::span<const Send> sends, std::span<const Recv> recvs, std::string_view what) {
  int64_t bytes = 0;
  for (const Send& send : sends) bytes += send.bytes;
  const Call call(*this, bytes);
  exchange_messages(sends, recvs, what);
}

void Communicator::send(const void* from, int64_t bytes, int to, std::string_view what) {
  const Send one{.from = from, .bytes = bytes, .to = to};
  exchange({&one, 1}, {}, what);
}

void Communicator::recv(void* to, int64_t bytes, int from, std::string_view what) {
  const Recv one{.to = to, .bytes = bytes, .from = from};
  exchange({}, {&one, 1}, what);
}

}  // namespace trireme
