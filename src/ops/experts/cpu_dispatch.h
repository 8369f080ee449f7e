// Sorts choices by expert, and says which rows travel where in which round. Only small integers.
#pragma once
#include <cstdint>
#include <vector>

#include "ops/experts/experts.h"

namespace trireme {

// Sorted choices: slot s holds choice choice_of_slot[s]; a dropped choice has slot -1.
struct Slots {
  int32_t* slot_of_choice = nullptr;  // [N*k]
  int32_t* choice_of_slot = nullptr;  // [N*k]
  int32_t* starts = nullptr;          // [E], of use while sorting
};

// A stable counting sort. counts[E] becomes the choices of each expert.
void sort_choices(const ExpertsSizes& sizes, const int32_t* ids, const Slots& slots, int32_t* counts);

// A run of rows of one pair of ranks in one round.
struct Window {
  int64_t first = 0;  // among the rows that the sender has for the receiver
  int64_t rows = 0;
  int64_t arrival = 0;  // the place of the first in the receiver's round
};

// The rounds of an exchange. A rank's rows arrive in the order of their senders, and from each in the order
// of experts; round q has those numbered q*R to (q+1)*R. With one rank there is one round with all its rows.
class Rounds {
 public:
  explicit Rounds(const ExpertsSizes& sizes);

  // `plan` [ranks,E] stays with the caller.
  void set_plan(const int32_t* plan);

  int64_t count() const { return count_; }  // the same on every rank
  // The sender's slots for a receiver begin here.
  int64_t first_slot(int64_t from, int64_t to) const;
  Window window(int64_t from, int64_t to, int64_t round) const;

  // Rows of each of this rank's experts in a round, and for each row, sorted by expert, sender and slot, its
  // place among the arrived. Returns the number of rows.
  int64_t sort_arrived(int64_t round, int64_t* rows_of_expert, int32_t* source) const;

 private:
  int64_t rows(int64_t from, int64_t to) const { return rows_[static_cast<size_t>(from * s_.ranks + to)]; }

  ExpertsSizes s_;
  const int32_t* plan_ = nullptr;
  std::vector<int64_t> rows_;  // [from,to]
  int64_t count_ = 0;
};

}  // namespace trireme
