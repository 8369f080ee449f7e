// Rows between ranks by one exchange per round and direction; a rank's own are copied.
#include <cstring>

#include "ops/experts/cpu_exchange.h"

namespace trireme {

void Exchange::share_counts(Communicator& ranks, int32_t* plan) const {
  ranks.all_gather(plan + s_.rank * s_.experts, plan, s_.experts * 4, "rows per expert");
}

void Exchange::send(Communicator& ranks, int64_t round, const void* slots, void* arrived, int64_t bytes,
                    std::string_view what) {
  const auto* from = static_cast<const std::byte*>(slots);
  auto* to = static_cast<std::byte*>(arrived);
  sends_.clear();
  recvs_.clear();
  for (int64_t peer = 0; peer < s_.ranks; ++peer) {
    const Window out = rounds_.window(s_.rank, peer, round), in = rounds_.window(peer, s_.rank, round);
    const std::byte* rows = from + (rounds_.first_slot(s_.rank, peer) + out.first) * bytes;
    if (peer == s_.rank) {
      std::memcpy(to + in.arrival * bytes, rows, static_cast<size_t>(in.rows * bytes));
      continue;
    }
    if (out.rows > 0) sends_.push_back({rows, out.rows * bytes, static_cast<int>(peer)});
    if (in.rows > 0) recvs_.push_back({to + in.arrival * bytes, in.rows * bytes, static_cast<int>(peer)});
  }
  ranks.exchange(sends_, recvs_, what);
}

void Exchange::send_back(Communicator& ranks, int64_t round, const void* arrived, void* slots, int64_t bytes,
                         std::string_view what) {
  const auto* from = static_cast<const std::byte*>(arrived);
  auto* to = static_cast<std::byte*>(slots);
  sends_.clear();
  recvs_.clear();
  for (int64_t peer = 0; peer < s_.ranks; ++peer) {
    const Window mine = rounds_.window(s_.rank, peer, round), theirs = rounds_.window(peer, s_.rank, round);
    std::byte* rows = to + (rounds_.first_slot(s_.rank, peer) + mine.first) * bytes;
    if (peer == s_.rank) {
      std::memcpy(rows, from + theirs.arrival * bytes, static_cast<size_t>(theirs.rows * bytes));
      continue;
    }
    if (theirs.rows > 0)
      sends_.push_back({from + theirs.arrival * bytes, theirs.rows * bytes, static_cast<int>(peer)});
    if (mine.rows > 0) recvs_.push_back({rows, mine.rows * bytes, static_cast<int>(peer)});
  }
  ranks.exchange(sends_, recvs_, what);
}

}  // namespace trireme
