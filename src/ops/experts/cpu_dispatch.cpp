// The counting sort and the arithmetic of rounds.
#include <algorithm>

#include "ops/experts/cpu_dispatch.h"

namespace trireme {

void sort_choices(const ExpertsSizes& s, const int32_t* ids, const Slots& slots, int32_t* counts) {
  std::fill_n(counts, s.experts, 0);
  for (int64_t c = 0; c < s.choices(); ++c)
    if (ids[c] >= 0) ++counts[ids[c]];
  int32_t next = 0;
  for (int64_t e = 0; e < s.experts; ++e) {
    slots.starts[e] = next;
    next += counts[e];
  }
  for (int64_t c = 0; c < s.choices(); ++c) {
    const int32_t slot = ids[c] >= 0 ? slots.starts[ids[c]]++ : -1;
    slots.slot_of_choice[c] = slot;
    if (slot >= 0) slots.choice_of_slot[slot] = static_cast<int32_t>(c);
  }
}

Rounds::Rounds(const ExpertsSizes& sizes)
    : s_(sizes), rows_(static_cast<size_t>(sizes.ranks * sizes.ranks)) {}

void Rounds::set_plan(const int32_t* plan) {
  plan_ = plan;
  count_ = 0;
  for (int64_t to = 0; to < s_.ranks; ++to) {
    int64_t arriving = 0;
    for (int64_t from = 0; from < s_.ranks; ++from) {
      int64_t n = 0;
      for (int64_t e = to * s_.owned; e < (to + 1) * s_.owned; ++e) n += plan[from * s_.experts + e];
      rows_[static_cast<size_t>(from * s_.ranks + to)] = n;
      arriving += n;
    }
    count_ = std::max(count_, (arriving + s_.room - 1) / s_.room);
  }
}

int64_t Rounds::first_slot(int64_t from, int64_t to) const {
  int64_t slot = 0;
  for (int64_t r = 0; r < to; ++r) slot += rows(from, r);
  return slot;
}

Window Rounds::window(int64_t from, int64_t to, int64_t round) const {
  int64_t arrival = 0;  // of the pair's first row, over all rounds
  for (int64_t r = 0; r < from; ++r) arrival += rows(r, to);
  const int64_t first = std::max(arrival, round * s_.room);
  const int64_t last = std::min(arrival + rows(from, to), (round + 1) * s_.room);
  if (first >= last) return {};
  return {first - arrival, last - first, first - round * s_.room};
}

int64_t Rounds::sort_arrived(int64_t round, int64_t* rows_of_expert, int32_t* source) const {
  int64_t sorted = 0;
  for (int64_t e = 0; e < s_.owned; ++e) {
    const int64_t before = sorted;
    for (int64_t from = 0; from < s_.ranks; ++from) {
      const int32_t* counts = plan_ + from * s_.experts + s_.rank * s_.owned;
      const Window w = window(from, s_.rank, round);
      int64_t first = 0;  // of this expert's rows among the sender's
      for (int64_t i = 0; i < e; ++i) first += counts[i];
      const int64_t begin = std::max(first, w.first), end = std::min(first + counts[e], w.first + w.rows);
      for (int64_t i = begin; i < end; ++i) source[sorted++] = static_cast<int32_t>(w.arrival + i - w.first);
    }
    rows_of_expert[e] = sorted - before;
  }
  return sorted;
}

}  // namespace trireme
