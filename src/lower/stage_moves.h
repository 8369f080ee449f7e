// What passes between the ranks of a pipeline, read off the schedule: which rows of a rank wait for an output
// or a gradient from another rank, which send one, and when a sender may count on it that the other has it.
//
// There is one link per ordered pair of ranks and it keeps its order, so a receiver asks for what comes over
// a link in the order in which it is sent, some of it before its turn. A sender's memory is free again at the
// first of its rows that depends, by way of the schedule, on the row before which the receiver has asked: to
// wait there holds nobody up. So no wait is added that the schedule does not have, and none can close a ring.
#pragma once
#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace trireme {

struct Move {
  enum class Kind : uint8_t { output, gradient } kind = Kind::output;
  int32_t stage = 0;  // the lower one of the two stages: whose output it is, or the gradient of that
  int32_t micro_batch = 0;
  int32_t peer = 0;  // pipeline rank
  bool operator==(const Move&) const = default;
};

struct SendMove : Move {
  size_t joined = 0;  // the row of this rank before which it is surely done; the number of rows: after all
  bool operator==(const SendMove&) const = default;
};

struct RowMoves {
  std::vector<Move> asks;       // receives begun before the row, for this row or a later one
  std::vector<SendMove> sends;  // begun after the row
};

// By row of the rank's table. The schedule is sound (find_fault of schedule/check.h).
std::vector<RowMoves> moves_of(const Schedule& schedule, int32_t rank);

}  // namespace trireme
