// Why a search ends where it ends: each rung from the simplest up with what it brings, and what the layouts
// around the winner lose by.
#pragma once
#include <string>
#include <vector>

#include "plan/search.h"

namespace trireme {

struct Reason {
  std::string step;    // "tensor in the node", or the change from the winner
  std::string layout;  // of the best one on that rung; "" of a change
  std::string why;
  bool taken = false;  // it is better than every simpler one
};

// Rungs that the run can stand on, simplest first.
std::vector<Reason> steps_up(const SearchResult& result, int64_t devices_per_node);
// Single changes of the winner, the worst first.
std::vector<Reason> losers(const SearchResult& result);

// "does not fit: 12.3 GB too many on pipeline rank 0; the largest: moments 28.2 GB, saved 20.1 GB".
std::string shortage_text(const Outcome& outcome);

}  // namespace trireme
