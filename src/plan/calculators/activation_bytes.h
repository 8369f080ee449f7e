// Bytes of saved activations of a GPT, by formula: Korthikanti et al. 2022, "Reducing Activation
// Recomputation in Large Transformer Models", table 2. For a layer with 4 h hidden units, 16-bit activations
// and dropout masks, one micro-batch; what a Program of Trireme saves is in its own plan.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/calculators/worked.h"

namespace trireme {

struct ActivationShape {
  int64_t seq = 1, micro = 1, width = 1, layers = 1, heads = 1;  // s, b, h, L, a
  int64_t tp = 1;                                                // t; divides a
  bool sequence = false;  // sequence parallel: what tp leaves whole is cut over its ranks as well
};

enum class Saved : uint8_t {
  scores,     // all: s b h L (10 + 24/t + 5 a s/(h t))
  no_scores,  // without the s x s scores, softmax and mask, as kernels do that never keep them, and
              // "selective" recomputation: s b h L (10 + 24/t)
  inputs,     // full recomputation: the layers' inputs alone, 2 s b h L
};
inline constexpr int kSavedForms = 3;

double activation_bytes(const ActivationShape& shape, Saved saved);

// All three, with their formulas; keys "activations_with_scores", "activations",
// "activations_full_recompute".
std::vector<Worked> worked_activations(const ActivationShape& shape);

}  // namespace trireme
