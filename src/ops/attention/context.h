// Attention over a sequence that is cut on the context axis: each rank has T/n of its rows (context_rows.h)
// as queries, and talks to the others for the keys. Three ways, with the operands of `attention`:
//
// ring_attention     keys and values go around the ranks, a step ahead of the block that is computed (Liu et
//                    al. 2023); partial results merge by their log-sum-exps in f32. Zigzag rows.
// gather_attention   keys and values of the whole sequence are gathered first (Llama Team 2024, section
//                    3.3.2). Zigzag rows.
// ulysses_attention  heads are dealt out instead of rows: all-to-all, attention over whole sequences with H/n
//                    heads, all-to-all back (Jacobs et al. 2023). Contiguous rows; lse is f32[B,H/n,T], of
//                    the rank's heads.
//
// doc_start i32[B,T/n] holds rows of the whole sequence; causality, window and documents go by these as well.
// Gradient ops have the name with _grad and the operands of `attention_grad`; each is its rank's dqkv, whole:
// what other ranks' queries give this rank's keys has been summed. Nothing but qkv, y and lse is kept for
// them: keys travel again.
#pragma once
#include "ops/attention/attention.h"

namespace trireme {

struct ContextAttrs {
  AttentionAttrs attention;  // of the whole: all heads
  AxisAttrs at;              // the context axis and this rank on it
  template <class F>
  void fields(F&& f) {
    attention.fields(f);
    at.fields(f);
  }
};

std::vector<OpEntry> context_attention_ops();

// The rule of attention, for every axis (placing.cpp).
Cut place_attention(const PlaceQuery& query);

// What a ulysses rank runs between its exchanges: plain attention (or its gradient) of one sequence.
OpSig ulysses_inner(const OpSig& sig);

// With one rank, all that the oracles know, every way is plain attention.
void context_attention_reference(const OpSig& sig, const Operands& operands);
void context_attention_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> context_attention_cases(std::string_view kind);
std::vector<OpCase> context_attention_grad_cases(std::string_view kind);

}  // namespace trireme
