// Which part of each parameter's state (master weights, moments) a rank has, and which it writes to a
// checkpoint: as boxes of the whole parameter, so that what is stored says nothing about the layout. Pure:
// every rank knows without asking what it has to write, since all that hold the same state count alike.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace trireme {

// The elements [first, last) of a box of the whole parameter, both row-major; they lie side by side in the
// group's buffers of this rank, from element `at` of its shard on.
struct StateBox {
  Shape offset, shape;
  int64_t first = 0, last = 0;
  int64_t at = 0;
  bool operator==(const StateBox&) const = default;
};

// All that this rank has; empty for parameters of other stages and shards.
std::vector<StateBox> held_boxes(const Program& program, ParamId param);

// Ranks that have the same elements of a parameter as this one, and which of them this is.
struct Replicas {
  int64_t count = 1, index = 0;
  bool operator==(const Replicas&) const = default;
};
Replicas replicas_of(const Program& program, ParamId param);

// The part of held_boxes() that this rank writes: replicas share large tensors evenly and take turns with
// small ones, so that together they write every element once.
std::vector<StateBox> written_boxes(const Program& program, ParamId param);

// Of all parameters together, for one kind of state.
int64_t written_elements(const Program& program);
// Of all kinds: the master weights and the moments that the program has.
int64_t written_bytes(const Program& program);

}  // namespace trireme
