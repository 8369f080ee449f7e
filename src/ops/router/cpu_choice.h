// What the router's CPU kernels do with the scores of one token. Rows hold E floats unless said otherwise.
#pragma once
#include <cstdint>

#include "ops/router/router.h"

namespace trireme {

// What a token's choice needs besides: rows of a thread.
struct ChoiceScratch {
  float* biased = nullptr;  // [E]
  float* worth = nullptr;   // [groups]
};

// Turns a row of logits into scores, in place, and fills ids[k] and weights[k]. `bias` may be null.
void choose(const RouterAttrs& attrs, float* row, const float* bias, const ChoiceScratch& scratch,
            int32_t* ids, float* weights);

// A token's operands of router_grad; dweights and dscores may be null.
struct TokenGradient {
  const int32_t* ids;
  const float* scores;
  const float* dweights;
  const float* dscores;
};

// Writes the gradient of the logits to `row`. With a z-loss the row holds the logits before.
void logits_gradient(const RouterAttrs& attrs, const TokenGradient& token, float* row);

}  // namespace trireme
