// What a Program's memory is spent on: the same plan that the engine allocates, part by part.
#pragma once
#include <array>
#include <string>

#include "ir/program.h"

namespace trireme {

// Bytes that are alive at one action of a timeline, by buffer class.
struct MemoryMoment {
  std::string timeline;
  ActionId action;
  std::array<int64_t, kBufferClasses> bytes{};
  int64_t total() const;
};

// The action with most bytes alive, over all timelines.
MemoryMoment memory_peak(const Program& program);

// One line for the log: the arena, and the peak's parts in decreasing order.
std::string memory_summary(const Program& program);

// For people, a row per class: what is alive at the peak, and bytes per parameter.
std::string memory_table(const Program& program);

}  // namespace trireme
