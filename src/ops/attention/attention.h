// Causal self-attention over a fused projection: attributes, sizes and what def.cpp lists. The model and
// passes read this; kernels read flash.h.
//
// qkv[B,T,(H+2K)*D] holds a position's H query heads, then its K key heads, then its K value heads; query
// head h reads key head h / (H/K). Query t sees the keys s with
//   max(doc_start[t], t - window + 1) <= s <= t      (doc_start and window only where given)
// score = softcap(scale * q.k), softcap(x) = cap * tanh(x / cap) where cap > 0 (Gemma 2, section 2).
#pragma once
#include <cstdint>
#include <vector>

#include "ops/attention/flash.h"
#include "ops/op.h"

namespace trireme {

struct AttentionAttrs {
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t window = 0;    // keys that a query sees, itself included; 0: all before it
  double softcap = 0.0;  // 0: none
  double scale = 0.0;    // 0: 1/sqrt(head_dim)
  template <class F>
  void fields(F&& f) {
    f("heads", heads), f("kv_heads", kv_heads), f("head_dim", head_dim);
    f("window", window), f("softcap", softcap), f("scale", scale);
  }
};

struct CachedAttentionAttrs {
  AttentionAttrs attention;
  int64_t context = 0;  // rows of the caches, S
  template <class F>
  void fields(F&& f) {
    attention.fields(f);
    f("context", context);
  }
};

// Elements of one position of qkv.
int64_t qkv_width(const AttentionAttrs& attrs);

// The scale with its default filled in.
double score_scale(const AttentionAttrs& attrs);

// How many (query, key) pairs of one head the mask leaves, documents aside: `rows` queries that follow
// `before` earlier positions.
int64_t visible_pairs(int64_t rows, int64_t before, int64_t window);

// The oracles (ref.cpp) and the cases (cases.cpp).
void attention_reference(const OpSig& sig, const Operands& operands);
void attention_grad_reference(const OpSig& sig, const Operands& operands);
void cached_attention_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> attention_cases();
std::vector<OpCase> attention_grad_cases();
std::vector<OpCase> cached_attention_cases();

}  // namespace trireme
