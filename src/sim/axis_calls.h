// When ops inside a block's action talk to the other ranks of an axis: what the engine notes of a traced step
// (AxisCall in engine/engine.h), predicted.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/price.h"

namespace trireme {

// Shares of the action's time. An op that talks in one piece is shown whole, its compute included; of one
// that talks beside its compute, only the talk.
struct PredictedCall {
  std::string_view op;
  BlockAxis axis = BlockAxis::tp;
  double start = 0, end = 0;
  int64_t sent_bytes = 0;
};

// Of one program, which like the cluster must outlive it; equal actions are looked at once.
class AxisCalls {
 public:
  AxisCalls(const Program& program, const Cluster& cluster) : program_(program), cluster_(cluster) {}

  // In order; empty for loads, transfers, and blocks that stay on their rank.
  std::span<const PredictedCall> of(const Action& action);

 private:
  const Program& program_;
  const Cluster& cluster_;
  std::map<std::pair<CodeId, Section>, std::vector<PredictedCall>> calls_;
};

}  // namespace trireme
