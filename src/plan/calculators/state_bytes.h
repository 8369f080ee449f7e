// Bytes of a parameter's state (compute copy, gradient, master copy, moments), and how ZeRO divides them.
#pragma once
#include <cstdint>
#include <string>

#include "config/optimizer.h"
#include "config/precision.h"

namespace trireme {

// Bytes per parameter, by part.
struct StateBytes {
  double compute_copy = 0, gradient = 0, master = 0, moments = 0;
  double total() const { return compute_copy + gradient + master + moments; }
};

// Adam in mixed precision as the ZeRO paper counts it (Rajbhandari et al. 2020, section 3.1): 2 + 2 + 4 + 8.
StateBytes published_state();
// What Trireme's programs have: gradients and moments in f32; a compute copy only where products are not in
// f32; SGD has one moment. AdamW in bf16: 2 + 4 + 4 + 8 = 18.
StateBytes engine_state(OptimizerKind optimizer, Compute compute);

inline constexpr int kZeroStages = 4;  // 0: nothing is divided

// Bytes per parameter and rank where `shards` ranks divide, by `zero`, the optimizer's state (1), and the
// gradients (2), and the parameters (3): at published_state 16, 4 + 12/N, 2 + 14/N, 16/N.
double bytes_per_parameter(const StateBytes& state, int zero, int64_t shards);

struct StateFormula {
  std::string symbols, numbers;  // "4 + 12/N", "4 + 12/8"; empty where nothing is divided
};
StateFormula state_formula(const StateBytes& state, int zero, int64_t shards);

}  // namespace trireme
