// Collectives through memory that the processes of one host share. Data goes through in rounds small enough
// for the caches: each member puts its part into its staging, all meet, each takes what it needs from the
// others'. Halves take turns, so one meeting per round is enough: whoever fills a half again has met all who
// read it, one round before.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "comm/mpi/mpi_communicators.h"
#include "comm/stream_copy.h"
#include "comm/sum_tree.h"

namespace trireme {
namespace {

enum Kind : uint64_t { kReduceScatter = 1, kAllGather, kAllToAll, kBroadcast, kBarrier };
constexpr int64_t kLargeBytes = int64_t{8} << 20;
constexpr std::string_view kKindNames[] = {"",           "reduce-scatter", "all-gather",
                                           "all-to-all", "broadcast",      "barrier"};

void copy_bytes(std::byte* to, const std::byte* from, int64_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

void stream_copy_unless_there(std::byte* to, const std::byte* from, int64_t bytes) {
  if (to != from) stream_copy(to, from, bytes);
}

int64_t rounds_for(int64_t length, int64_t per_round) {
  return std::max<int64_t>(1, (length + per_round - 1) / per_round);
}

class WindowCommunicator final : public Communicator {
 public:
  WindowCommunicator(MpiRoute route, std::vector<WindowArea*> areas)
      : route_(std::move(route)), areas_(std::move(areas)) {}
  int rank() const override { return route_.rank; }
  int size() const override { return static_cast<int>(route_.members.size()); }

  using Communicator::all_to_all;
  void all_to_all(const AllToAll& parts, std::string_view what) override;
  void broadcast(void* data, int64_t bytes, int root, std::string_view what) override;
  void exchange(std::span<const Send> sends, std::span<const Recv> recvs, std::string_view what) override {
    mpi_transfer(route_, sends, recvs, Waiting(route_.patience, "exchange", what));
  }
  void barrier(std::string_view what) override {
    in_rounds(
        {.kind = kBarrier, .rounds = 1}, what, [](int64_t, std::byte*) {}, [](int64_t, uint32_t) {});
  }

 private:
  void reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                     std::string_view what) override;
  void gather_pieces(const void* from, void* to, const Pieces& pieces, std::string_view what) override;

  // put(round, own staging), then, when all have, take(round, half).
  template <class Put, class Take>
  void in_rounds(const WindowCall& call, std::string_view what, const Put& put, const Take& take);
  void meet(const Waiting& waiting);
  WindowArea& area(int rank) const { return *areas_[static_cast<size_t>(rank)]; }
  // What member `from` staged for `to`, when staging is cut by destination.
  int64_t slice_bytes() const { return kStagingBytes / size() / 64 * 64; }

  MpiRoute route_;
  std::vector<WindowArea*> areas_;
};

template <class Put, class Take>
void WindowCommunicator::in_rounds(const WindowCall& call, std::string_view what, const Put& put,
                                   const Take& take) {
  const Waiting waiting(route_.patience, kKindNames[call.kind], what);
  (void)waiting.may_go_on();
  int64_t rounds = call.rounds;
  for (int64_t round = 0; round < rounds; ++round) {
    const uint32_t half = area(rank()).arrived.value.load(std::memory_order_relaxed) & 1u;
    area(rank()).calls[half] = call;
    put(round, area(rank()).staging[half]);
    meet(waiting);
    for (int r = 0; r < size() && round == 0; ++r) {
      const WindowCall& other = area(r).calls[half];
      CHECK(other.kind == call.kind && other.count == call.count && other.length == call.length,
            "rank {} calls {} of {}, rank {} calls {} of {}", route_.members[static_cast<size_t>(r)],
            other.kind, other.count, route_.patience.me, call.kind, call.count);
      rounds = std::max(rounds, other.rounds);
    }
    take(round, half);
  }
}

void WindowCommunicator::meet(const Waiting& waiting) {
  Signal& mine = area(rank()).arrived;
  raise_signal(mine);
  const uint32_t target = mine.value.load(std::memory_order_relaxed);
  for (int step = 1; step < size(); ++step) {
    if (waiting.reaches(area((rank() + step) % size()).arrived, target)) continue;
    std::vector<int> missing;
    for (int r = 0; r < size(); ++r)
      if (!has_reached(area(r).arrived, target)) missing.push_back(route_.members[static_cast<size_t>(r)]);
    if (!missing.empty()) waiting.give_up(missing);
  }
}

void WindowCommunicator::reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                                       std::string_view what) {
  const int64_t element_bytes = size_of(dtype), run = slice_bytes() / element_bytes;
  const auto* source = static_cast<const std::byte*>(from);
  const auto first = [&](int r, int64_t round) {
    return std::min(pieces.begin(r) + round * run, pieces.end(r));
  };
  const auto count = [&](int r, int64_t round) { return std::min(run, pieces.end(r) - first(r, round)); };
  in_rounds(
      {.kind = kReduceScatter,
       .count = pieces.count,
       .length = pieces.length,
       .rounds = rounds_for(pieces.length, run)},
      what,
      [&](int64_t round, std::byte* staging) {
        for (int r = 0; r < size(); ++r)
          if (r != rank())
            copy_bytes(staging + r * slice_bytes(), source + first(r, round) * element_bytes,
                       count(r, round) * element_bytes);
      },
      [&](int64_t round, uint32_t half) {
        const int64_t begin = first(rank(), round);
        std::vector<const void*> sources;
        for (int r = 0; r < size(); ++r)
          sources.push_back(r == rank() ? source + begin * element_bytes
                                        : area(r).staging[half] + rank() * slice_bytes());
        sum_tree(dtype, sources, static_cast<std::byte*>(to) + (begin - pieces.begin(rank())) * element_bytes,
                 count(rank(), round));
      });
}

void WindowCommunicator::gather_pieces(const void* from, void* to, const Pieces& pieces,
                                       std::string_view what) {
  const auto first = [&](int r, int64_t round) { return std::min(round * kStagingBytes, pieces.size(r)); };
  const auto count = [&](int r, int64_t round) {
    return std::min(kStagingBytes, pieces.size(r) - first(r, round));
  };
  const auto* source = static_cast<const std::byte*>(from);
  // Results beyond the caches' size go round them.
  const auto place = pieces.count >= kLargeBytes ? stream_copy_unless_there : copy_bytes;
  in_rounds(
      {.kind = kAllGather,
       .count = pieces.count,
       .length = pieces.length,
       .rounds = rounds_for(pieces.length, kStagingBytes)},
      what,
      [&](int64_t round, std::byte* staging) {
        copy_bytes(staging, source + first(rank(), round), count(rank(), round));
      },
      [&](int64_t round, uint32_t half) {
        for (int r = 0; r < size(); ++r)
          place(static_cast<std::byte*>(to) + pieces.begin(r) + first(r, round),
                r == rank() ? source + first(r, round) : area(r).staging[half], count(r, round));
      });
}

void WindowCommunicator::all_to_all(const AllToAll& parts, std::string_view what) {
  std::vector<int64_t> from_begin(areas_.size() + 1), to_begin(from_begin);
  std::partial_sum(parts.from_bytes.begin(), parts.from_bytes.end(), from_begin.begin() + 1);
  std::partial_sum(parts.to_bytes.begin(), parts.to_bytes.end(), to_begin.begin() + 1);
  const int64_t most = *std::max_element(parts.from_bytes.begin(), parts.from_bytes.end());
  const auto* from = static_cast<const std::byte*>(parts.from);
  auto* to = static_cast<std::byte*>(parts.to);
  const auto first = [&](int64_t bytes, int64_t round) { return std::min(bytes, round * slice_bytes()); };
  in_rounds(
      {.kind = kAllToAll, .rounds = rounds_for(most, slice_bytes())}, what,
      [&](int64_t round, std::byte* staging) {
        for (size_t r = 0; r < areas_.size(); ++r) {
          const int64_t begin = first(parts.from_bytes[r], round);
          copy_bytes(staging + static_cast<int64_t>(r) * slice_bytes(), from + from_begin[r] + begin,
                     std::min(slice_bytes(), parts.from_bytes[r] - begin));
        }
      },
      [&](int64_t round, uint32_t half) {
        for (size_t r = 0; r < areas_.size(); ++r) {
          const int64_t begin = first(parts.to_bytes[r], round);
          copy_bytes(to + to_begin[r] + begin, areas_[r]->staging[half] + rank() * slice_bytes(),
                     std::min(slice_bytes(), parts.to_bytes[r] - begin));
        }
      });
}

void WindowCommunicator::broadcast(void* data, int64_t bytes, int root, std::string_view what) {
  auto* place = static_cast<std::byte*>(data);
  const auto count = [&](int64_t round) { return std::min(kStagingBytes, bytes - round * kStagingBytes); };
  in_rounds(
      {.kind = kBroadcast, .count = bytes, .length = root, .rounds = rounds_for(bytes, kStagingBytes)}, what,
      [&](int64_t round, std::byte* staging) {
        if (rank() == root) copy_bytes(staging, place + round * kStagingBytes, count(round));
      },
      [&](int64_t round, uint32_t half) {
        if (rank() != root) copy_bytes(place + round * kStagingBytes, area(root).staging[half], count(round));
      });
}

}  // namespace

std::unique_ptr<Communicator> window_communicator(MpiRoute route, std::vector<WindowArea*> areas) {
  return std::make_unique<WindowCommunicator>(std::move(route), std::move(areas));
}

}  // namespace trireme
