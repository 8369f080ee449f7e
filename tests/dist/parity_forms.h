// The models of the parity tests: one of each kind of block.
#pragma once
#include <vector>

#include "dist/layout_run.h"

namespace trireme::test {

// AdamW moves a weight by lr whatever the size of its gradient, so noise in one near zero is seen times lr.
inline RunForm gpt2_form() { return {.family = "gpt2", .micro = 2, .lr = 1e-3}; }
inline RunForm llama_form() { return {.family = "llama", .micro = 2, .lr = 1e-3}; }

inline RunForm mixtral_form() {
  return {.family = "llama",
          .micro = 2,
          .lr = 1e-3,
          .more =
              "[moe]\nexperts = 4\ntop_k = 2\nexpert_ffn = 48\nsoftmax_order = \"after\"\naux_loss = 0.02\n"
              "z_loss = 0.001"};
}

inline RunForm deepseek_form() {
  return {.family = "deepseek",
          .micro = 2,
          .lr = 1e-3,
          .more =
              "[model.mla]\nq_rank = 24\nkv_rank = 16\nnope_dim = 8\nrope_dim = 4\nv_dim = 8\n"
              "[moe]\nexperts = 8\ntop_k = 2\nexpert_ffn = 24\nshared_ffn = 48\nfirst_dense = 1\n"
              "score = \"sigmoid\"\ngroups = 4\ntop_groups = 2\nnormalize = true\nscale = 2.5"};
}

// Runs the layouts with as many lanes as data-parallel ranks, against one rank: losses and grad norms of ten
// steps, weights after three.
void expect_parity(const RunForm& form, const std::vector<Layout>& layouts);

}  // namespace trireme::test
