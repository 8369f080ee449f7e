// Rows between ranks by one exchange per round and direction; a rank's own are copied.
#include <cstring>

#include "ops/experts/cpu_exchange.h"

namespace trireme {

void RowExchange::share_counts(Communicator& ranks, int32_t* plan) const {
  ranks.all_gather(plan + s_.rank * s_.experts, plan, s_.experts * 4, "rows per expert");
}

// part_of(peer): what goes to this peer, and what comes from it.
template <class PartOf>
void RowExchange::move(Communicator& ranks, const void* from, void* to, int64_t bytes, std::string_view what,
                       const PartOf& part_of) {
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  sends_.clear();
  recvs_.clear();
  for (int64_t peer = 0; peer < s_.ranks; ++peer) {
    const Part part = part_of(peer);
    const std::byte* out = source + part.from * bytes;
    std::byte* in = target + part.to * bytes;
    if (peer == s_.rank) {
      std::memcpy(in, out, static_cast<size_t>(part.to_rows * bytes));
      continue;
    }
    if (part.from_rows > 0) sends_.push_back({out, part.from_rows * bytes, static_cast<int>(peer)});
    if (part.to_rows > 0) recvs_.push_back({in, part.to_rows * bytes, static_cast<int>(peer)});
  }
  ranks.exchange(sends_, recvs_, what);
}

void RowExchange::send(Communicator& ranks, int64_t round, const void* slots, void* arrived, int64_t bytes,
                       std::string_view what) {
  move(ranks, slots, arrived, bytes, what, [&](int64_t peer) {
    const Window mine = rounds_.window(s_.rank, peer, round), theirs = rounds_.window(peer, s_.rank, round);
    return Part{rounds_.first_slot(s_.rank, peer) + mine.first, mine.rows, theirs.arrival, theirs.rows};
  });
}

void RowExchange::send_back(Communicator& ranks, int64_t round, const void* arrived, void* slots,
                            int64_t bytes, std::string_view what) {
  move(ranks, arrived, slots, bytes, what, [&](int64_t peer) {
    const Window mine = rounds_.window(s_.rank, peer, round), theirs = rounds_.window(peer, s_.rank, round);
    return Part{theirs.arrival, theirs.rows, rounds_.first_slot(s_.rank, peer) + mine.first, mine.rows};
  });
}

}  // namespace trireme
