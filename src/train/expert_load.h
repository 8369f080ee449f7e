// How evenly a step's tokens went to the experts. The router's state keeps the last step's counts
// (ops/expert_bias): of all ranks and micro-batches, by layer. Evaluation leaves them alone, and checkpoints
// have them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "train/ranks.h"

namespace trireme {

struct LayerLoad {
  std::string layer;           // "3", or "mtp" of the layer that predicts a further token
  std::vector<double> chosen;  // by expert: choices, dropped ones included
  int64_t dropped = 0;
};

struct ExpertLoad {
  std::vector<LayerLoad> layers;  // those with experts
  double max_share = 0;           // of the choices of a layer, what the most loaded expert of any layer got
  double entropy = 0;             // of the shares, over that of an even load: 1 is even; mean of the layers
  int64_t dropped = 0;            // choices
};

// Of the step that ran last. Every rank calls it; those that lead get the numbers of all pipeline ranks.
ExpertLoad expert_load(RankLink& link, const Engine& engine);

}  // namespace trireme
