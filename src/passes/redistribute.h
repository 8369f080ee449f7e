// Moves a value of a Graph from one placement to another: the collectives between ranks.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "ir/graph.h"
#include "ops/placing.h"

namespace trireme {

struct AxisShare {
  BlockAxis axis = BlockAxis::tp;
  int64_t ranks = 1, rank = 0;
  int64_t batch = 1;  // sequences of a micro-batch: what rows are folded over
};

// Appends to graph.ops. A value that was moved to a place before is not moved there again.
class Redistributor {
 public:
  Redistributor(Graph& graph, const AxisShare& share) : graph_(graph), share_(share) {}

  ValueId move(ValueId value, const Placement& to);

 private:
  struct Step {
    std::string kind, suffix;
    Attrs attrs;
    Placement made;
  };
  Step step_towards(const Value& value, const Placement& to) const;

  Graph& graph_;
  AxisShare share_;
  std::map<std::pair<ValueId, std::string>, ValueId> moved_;  // by value and placement
};

}  // namespace trireme
