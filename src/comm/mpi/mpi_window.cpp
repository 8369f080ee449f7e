// Collectives through memory that the processes of one host share. Data goes through it in rounds small
// enough for the caches: each member puts its part into a slot of its own, and takes what it needs from the
// others' slots of that round. It goes on to put further rounds while the others are not there yet; a slot is
// free again when all have taken what is in it, and the first free one is used, so that members in step keep
// to a few slots that stay in cache.
#include <algorithm>
#include <array>
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
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
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

  void broadcast(void* data, int64_t bytes, int root, std::string_view what) override;
  void barrier(std::string_view what) override {
    in_rounds(
        {.kind = kBarrier, .rounds = 1}, what, [](int64_t, std::byte*) {}, [](int64_t, const Slots&) {});
  }

 private:
  void exchange_parts(const AllToAll& parts, std::string_view what) override;
  void exchange_messages(std::span<const Send> sends, std::span<const Recv> recvs,
                         std::string_view what) override {
    mpi_transfer(route_, sends, recvs, Waiting(route_.patience, "exchange", what));
  }
  void reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                     std::string_view what) override;
  void gather_pieces(const void* from, void* to, const Pieces& pieces, std::string_view what) override;

  using Slots = std::vector<const WindowSlot*>;  // of a round, by member

  // For every round put(round, own bytes) and, once all have put theirs, take(round, slots).
  template <class Put, class Take>
  void in_rounds(const WindowCall& call, std::string_view what, const Put& put, const Take& take);
  WindowSlot& free_slot(const Waiting& waiting);
  // The slots of all members in a round, counted over all calls.
  void find_slots(uint32_t round, const WindowCall& call, Slots& slots) const;
  bool may_put_ahead(uint32_t target) const;
  bool all_have(Signal WindowArea::*signal, uint32_t target) const;
  void wait_for(Signal WindowArea::*signal, uint32_t target, const Waiting& waiting) const;
  WindowArea& area(int rank) const { return *areas_[static_cast<size_t>(rank)]; }
  // What member `from` staged for `to`, when a slot is cut by destination.
  int64_t slice_bytes() const { return kSlotBytes / size() / 64 * 64; }

  MpiRoute route_;
  std::vector<WindowArea*> areas_;
};

template <class Put, class Take>
void WindowCommunicator::in_rounds(const WindowCall& call, std::string_view what, const Put& put,
                                   const Take& take) {
  const Waiting waiting(route_.patience, kKindNames[call.kind], what);
  (void)waiting.may_go_on();
  WindowArea& mine = area(rank());
  const uint32_t start = mine.taken.value.load(std::memory_order_relaxed);
  Slots slots(areas_.size());
  int64_t rounds = call.rounds, next = 0;  // next: to be put
  for (int64_t round = 0; round < rounds; ++round) {
    const uint32_t target = start + static_cast<uint32_t>(round) + 1;
    while (next < rounds && (next <= round || may_put_ahead(target))) {
      WindowSlot& slot = free_slot(waiting);
      slot.call = call;
      put(next++, slot.bytes);
      raise_signal(mine.put);
    }
    wait_for(&WindowArea::put, target, waiting);
    find_slots(target - 1, call, slots);
    for (const WindowSlot* slot : slots) rounds = std::max(rounds, slot->call.rounds);
    take(round, slots);
    raise_signal(mine.taken);
  }
}

// The first that all others have taken; marked as that of the round to be put.
WindowSlot& WindowCommunicator::free_slot(const Waiting& waiting) {
  WindowArea& mine = area(rank());
  const uint32_t round = mine.put.value.load(std::memory_order_relaxed);
  wait_for(&WindowArea::taken, round + 1 - kSlots, waiting);
  std::array<bool, kSlots> used{};
  for (uint32_t back = 1; back < kSlots; ++back)
    if (!all_have(&WindowArea::taken, round + 1 - back)) used[mine.slot_of[(round - back) % kSlots]] = true;
  const auto slot = static_cast<uint32_t>(std::find(used.begin(), used.end(), false) - used.begin());
  mine.slot_of[round % kSlots] = slot;
  return mine.slots[slot];
}

// Rather than wait for those who have not put the round yet.
bool WindowCommunicator::may_put_ahead(uint32_t target) const {
  const uint32_t round = area(rank()).put.value.load(std::memory_order_relaxed);
  return !all_have(&WindowArea::put, target) && all_have(&WindowArea::taken, round + 1 - kSlots);
}

void WindowCommunicator::find_slots(uint32_t round, const WindowCall& call, Slots& slots) const {
  for (int r = 0; r < size(); ++r) {
    const WindowSlot& slot = area(r).slots[area(r).slot_of[round % kSlots]];
    CHECK(slot.call.kind == call.kind && slot.call.count == call.count && slot.call.length == call.length,
          "rank {} calls {} of {}, rank {} calls {} of {}", route_.members[static_cast<size_t>(r)],
          kKindNames[slot.call.kind], slot.call.count, route_.patience.me, kKindNames[call.kind], call.count);
    slots[static_cast<size_t>(r)] = &slot;
  }
}

bool WindowCommunicator::all_have(Signal WindowArea::*signal, uint32_t target) const {
  return std::all_of(areas_.begin(), areas_.end(),
                     [&](const WindowArea* a) { return has_reached(a->*signal, target); });
}

void WindowCommunicator::wait_for(Signal WindowArea::*signal, uint32_t target, const Waiting& waiting) const {
  for (int step = 1; step < size(); ++step) {
    if (waiting.reaches(area((rank() + step) % size()).*signal, target)) continue;
    std::vector<int> missing;
    for (int r = 0; r < size(); ++r)
      if (!has_reached(area(r).*signal, target)) missing.push_back(route_.members[static_cast<size_t>(r)]);
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
      [&](int64_t round, const Slots& slots) {
        const int64_t begin = first(rank(), round);
        std::vector<const void*> sources;
        for (int r = 0; r < size(); ++r)
          sources.push_back(r == rank() ? source + begin * element_bytes
                                        : slots[static_cast<size_t>(r)]->bytes + rank() * slice_bytes());
        sum_tree(dtype, sources, static_cast<std::byte*>(to) + (begin - pieces.begin(rank())) * element_bytes,
                 count(rank(), round));
      });
}

void WindowCommunicator::gather_pieces(const void* from, void* to, const Pieces& pieces,
                                       std::string_view what) {
  const auto first = [&](int r, int64_t round) { return std::min(round * kSlotBytes, pieces.size(r)); };
  const auto count = [&](int r, int64_t round) {
    return std::min(kSlotBytes, pieces.size(r) - first(r, round));
  };
  const auto* source = static_cast<const std::byte*>(from);
  auto* result = static_cast<std::byte*>(to);
  // Results beyond the caches' size go round them.
  const auto place = pieces.count >= kLargeBytes ? stream_copy : copy_bytes;
  in_rounds(
      {.kind = kAllGather,
       .count = pieces.count,
       .length = pieces.length,
       .rounds = rounds_for(pieces.length, kSlotBytes)},
      what,
      [&](int64_t round, std::byte* staging) {
        const int64_t begin = first(rank(), round);
        copy_bytes(staging, source + begin, count(rank(), round));
        std::byte* own = result + pieces.begin(rank());
        if (own != source) place(own + begin, staging, count(rank(), round));
      },
      [&](int64_t round, const Slots& slots) {
        for (int step = 1; step < size(); ++step) {
          const int r = (rank() + step) % size();
          place(result + pieces.begin(r) + first(r, round), slots[static_cast<size_t>(r)]->bytes,
                count(r, round));
        }
      });
}

void WindowCommunicator::exchange_parts(const AllToAll& parts, std::string_view what) {
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
      [&](int64_t round, const Slots& slots) {
        for (size_t r = 0; r < areas_.size(); ++r) {
          const int64_t begin = first(parts.to_bytes[r], round);
          copy_bytes(to + to_begin[r] + begin, slots[r]->bytes + rank() * slice_bytes(),
                     std::min(slice_bytes(), parts.to_bytes[r] - begin));
        }
      });
}

void WindowCommunicator::broadcast(void* data, int64_t bytes, int root, std::string_view what) {
  auto* place = static_cast<std::byte*>(data);
  const auto count = [&](int64_t round) { return std::min(kSlotBytes, bytes - round * kSlotBytes); };
  in_rounds(
      {.kind = kBroadcast, .count = bytes, .length = root, .rounds = rounds_for(bytes, kSlotBytes)}, what,
      [&](int64_t round, std::byte* staging) {
        if (rank() == root) copy_bytes(staging, place + round * kSlotBytes, count(round));
      },
      [&](int64_t round, const Slots& slots) {
        if (rank() != root)
          copy_bytes(place + round * kSlotBytes, slots[static_cast<size_t>(root)]->bytes, count(round));
      });
}

}  // namespace

std::unique_ptr<Communicator> window_communicator(MpiRoute route, std::vector<WindowArea*> areas) {
  return std::make_unique<WindowCommunicator>(std::move(route), std::move(areas));
}

}  // namespace trireme
