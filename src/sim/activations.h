// How many micro-batches are under way on a rank at once, and what their activations take: read off the
// Program, so that it holds for the engine as for the simulator.
#pragma once
#include <cstdint>

#include "ir/program.h"

namespace trireme {

// Each the most at any one moment of the timeline, from a block's forward to the last part of its backward.
struct ActivationPeak {
  int64_t micro_batches = 0;
  int64_t layers = 0;  // x micro-batches: of embedding, layers and head only the layers count
  int64_t bytes = 0;   // of buffers of class saved
};

ActivationPeak activation_peak(const Program& program, const Timeline& timeline);

}  // namespace trireme
