// The router of a mixture of experts: which top_k of E experts each token goes to, and with what weights.
//
//   router(x[B,T,C], weight[E,C], state? f32[2,E]) -> ids i32[B,T,k], weights f32[B,T,k], scores f32[B,T,E],
//                                                     counts f32[1,E] or f32[B,E]
//   router_grad(x, weight, ids, scores, dweights?, dscores?) -> dx, dweight +=, dstate +=
//
// Everything after x and weight is f32, the product too. Scores are the softmax or the sigmoid of the logits.
// Experts are chosen by score + state[0,e], the balancing bias (DeepSeek-V3, 2024, section 2.1.2); ties go to
// the lowest index. With groups, only the experts of the best top_groups groups may be chosen; a group is
// worth the sum of its two best biased scores. Weights come from the unbiased scores of the chosen, in the
// order of choice (best first).
//
// dstate is no gradient: row 0 counts the choices of each expert, row 1 how many of them were dropped. It is
// made in backward, so that neither evaluation nor recompute counts anything twice.
#pragma once
#include <string>

#include "ops/op.h"

namespace trireme {

struct RouterAttrs {
  int64_t experts = 0, top_k = 0;
  std::string score = "softmax";  // | sigmoid
  int64_t normalize = 0;          // 1: a token's weights sum to 1 (before `scale`)
  int64_t softmax_after = 0;      // 1: weights are the softmax of the chosen logits (Mixtral): softmax with
                                  // normalize, said otherwise
  int64_t groups = 1, top_groups = 1;
  double scale = 1.0;
  double z_loss = 0.0;  // coefficient of logsumexp(logits)^2 per token (Zoph et al. 2022, ST-MoE, eq. 5);
                        // only its gradient is made, by router_grad
  // > 0: an expert takes at most ceil(capacity_factor * tokens * k / E) of a call's choices, tokens in order
  // and a token's choices in theirs. What is left over is dropped: its id becomes ~e = -1 - e (any negative
  // id is a dropped choice), its weight 0; the weights of the token's other choices stay.
  double capacity_factor = 0.0;
  std::string counts_per = "micro_batch";  // | sequence: over how many tokens `counts` goes; before dropping
  template <class F>
  void fields(F&& f) {
    f("experts", experts);
    f("top_k", top_k);
    f("score", score);
    f("normalize", normalize);
    f("softmax_after", softmax_after);
    f("groups", groups);
    f("top_groups", top_groups);
    f("scale", scale);
    f("z_loss", z_loss);
    f("capacity_factor", capacity_factor);
    f("counts_per", counts_per);
  }
};

// Whether a token's weights are divided by their sum.
inline bool normalizes(const RouterAttrs& a) { return a.normalize != 0 || a.softmax_after != 0; }

// Choices that an expert may take of `tokens` tokens; all of them where nothing is dropped.
int64_t expert_capacity(const RouterAttrs& attrs, int64_t tokens);

// Rows of a thread that chooses: biased scores f32[E], worths of groups f32[groups]; a multiple of 64.
inline int64_t choice_scratch_bytes(const RouterAttrs& attrs) {
  return (attrs.experts + attrs.groups + 15) / 16 * 64;
}

// Keeps sums of scores from being 0 (as DeepSeek's own code does).
inline constexpr float kLeastSum = 1e-20f;

// The expert that a choice was for, dropped or not.
inline int32_t chosen_expert(int32_t id) { return id < 0 ? ~id : id; }

}  // namespace trireme
