// The auxiliary loss that spreads tokens over experts (Fedus et al. 2021, Switch Transformer, eq. 4-6):
//
//   balance(weights f32[B,T,k], scores f32[B,T,E], counts f32[1,E] or f32[B,E]) -> weights
//   balance_grad(scores, counts) -> dscores
//
// Forward passes the weights through. Backward adds to the scores' gradient that of
//
//   coefficient * E * sum_e f_e sum_t p_te,   f_e = counts_e / (tokens k),   p_te = score_te / sum_e score_te
//
// which is the paper's loss times tokens, since gradients are of sums over tokens; f_e counts whole tokens
// and has no gradient. Softmaxed scores sum to 1 already; sigmoids are divided as in DeepSeek-V3 (2024, eq.
// 17-20). With counts per sequence the loss is the sum of one such term per sequence.
#pragma once
#include "ops/op.h"

namespace trireme {

struct BalanceAttrs {
  int64_t experts = 0, top_k = 0;
  double coefficient = 0.0;
  int64_t tokens = 0;  // that the whole counts are of, those of all ranks and sequences: B * T before any cut
  template <class F>
  void fields(F&& f) {
    f("experts", experts);
    f("top_k", top_k);
    f("coefficient", coefficient);
    f("tokens", tokens);
  }
};

}  // namespace trireme
