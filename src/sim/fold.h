// Ranks that do the same are simulated as one. Those that work on a part of the data together, over the block
// axes, are a unit: they wait for each other in every block, so the slowest sets their pace. Units differ
// only where one is disturbed, so there is one kind of unit for each that is, and one for all the rest.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/simulate.h"

namespace trireme {

class Folding {
 public:
  // UserError when a slow rank is not of the run.
  Folding(const Mesh& mesh, const Disturbance& disturbance);

  // Stage rank by stage rank, in each one per kind of unit.
  const std::vector<SimRank>& ranks() const { return ranks_; }

  // The simulated ranks that take part in a group which the program of `rank` (an index of ranks()) lists, in
  // the group's order.
  std::vector<size_t> members(size_t rank, const CommGroup& group) const;

 private:
  int32_t unit_of(int32_t rank) const;
  // Whether the group's ranks work on different parts of the data.
  bool crosses_units(const CommGroup& group) const;

  Mesh mesh_;
  int32_t unit_shards_ = 1;  // shard indices of a unit
  size_t kinds_ = 1;
  std::vector<SimRank> ranks_;
};

}  // namespace trireme
