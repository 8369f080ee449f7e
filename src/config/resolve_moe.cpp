// [moe]: what the choice of experts implies, and whether the numbers fit each other.
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "config/resolve_sections.h"

namespace trireme {
namespace {

void resolve_layers(RawConfig& raw) {
  const RawModel& m = raw.model;
  const int64_t layers = *m.layers, first = *m.moe.first_dense, every = *m.moe.every;
  if (first >= layers)
    fail_key(raw, "moe.first_dense", "leaves none of model.layers = {} with experts; use at most {}", layers,
             layers - 1);
  if (every > layers - first)
    fail_key(raw, "moe.every",
             "leaves none of the {} layers after moe.first_dense with experts; use at most {}",
             layers - first, layers - first);
}

// The group counts that leave at least two experts in each: a group is as good as its two best.
std::vector<int64_t> group_counts(int64_t experts) {
  std::vector<int64_t> counts;
  for (int64_t g = 1; 2 * g <= experts && counts.size() < 8; ++g)
    if (experts % g == 0) counts.push_back(g);
  if (counts.empty()) counts.push_back(1);
  return counts;
}

void resolve_choice(RawConfig& raw) {
  auto& moe = raw.model.moe;
  const int64_t experts = *moe.experts, top_k = *moe.top_k;
  if (top_k > experts)
    fail_key(raw, "moe.top_k", "is more than moe.experts = {}; use at most {}", experts, experts);
  const int64_t groups = *moe.groups;
  if (!moe.top_groups) moe.top_groups = groups;
  if (*moe.score != RouterScore::sigmoid) return;  // the others are refused where they are written
  if (experts % groups != 0 || (groups > 1 && experts / groups < 2))
    fail_key(raw, "moe.groups",
             "does not cut moe.experts = {} into equal groups of two or more; use one of {}", experts,
             fmt::join(group_counts(experts), ", "));
  if (*moe.top_groups > groups)
    fail_key(raw, "moe.top_groups", "is more than moe.groups = {}; use at most {}", groups, groups);
  const int64_t within_reach = *moe.top_groups * (experts / groups);
  if (top_k > within_reach)
    fail_key(raw, "moe.top_k",
             "is more than the {} experts of moe.top_groups = {} groups; use at most {}, or more groups",
             within_reach, *moe.top_groups, within_reach);
}

void resolve_balance(RawConfig& raw) {
  auto& moe = raw.model.moe;
  const bool sigmoid = *moe.score == RouterScore::sigmoid;
  if (!moe.balance_rate) moe.balance_rate = sigmoid ? 0.001 : 0.0;
  if (!moe.aux_loss) moe.aux_loss = sigmoid && *moe.balance_rate > 0 ? 0.0 : 0.01;
}

}  // namespace

void resolve_moe(RawConfig& raw) {
  RawModel& m = raw.model;
  if (*m.moe.experts == 0 || *m.family == Family::gpt2) return;
  if (*m.activation != Activation::swiglu)
    fail_key(raw, "moe.experts", "needs model.activation = \"swiglu\", the only one that experts have");
  if (*m.bias) fail_key(raw, "moe.experts", "needs model.bias = false: experts have no biases");
  if (!m.moe.expert_ffn) m.moe.expert_ffn = m.ffn;
  resolve_layers(raw);
  resolve_choice(raw);
  resolve_balance(raw);
}

}  // namespace trireme
