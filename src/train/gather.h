// The state of a run, gathered from the ranks that hold it in parts.
#pragma once
#include <string_view>
#include <vector>

#include "io/checkpoint/checkpoint.h"
#include "train/ranks.h"

namespace trireme {

struct GatheredState {
  std::vector<TensorPiece> pieces;
  std::vector<std::vector<float>> copies;  // of what no engine of the leader's process has whole
};

// Every rank calls this; the leader gets the state, the others nothing. It is taken from the first copy of
// the model, which its pipeline's ranks and their shards have between them. Valid until the ranks meet,
// before which no engine may run.
GatheredState gather_state(RankLink& link, const Engine& mine, std::string_view what);

}  // namespace trireme
