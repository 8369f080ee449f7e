// The experts of a mixture: each token's row goes through the feed-forward layers of the experts that its
// router chose. Nothing is padded and nothing dropped but choices that come as dropped (negative ids).
//
//   experts(x[B,T,C], ids i32[B,T,k], weights f32[B,T,k], gate_up[E,2F,C], down[E,C,F])
//     -> y[B,T,C], rows[R,C], hidden[R,2F], plan i32[ranks,E]
//   experts_grad(dy, ids, weights, rows?, hidden, gate_up, down, x?, plan?, gate_up_forward?)
//     -> dx, dweights f32[B,T,k], dgate_up +=, ddown +=
//
//   y = sum_j down_e(weights_j * swiglu(gate_up_e(x))),  e = ids_j,  swiglu as in ops/swiglu
//
// The weight is applied before `down`, so that its gradient needs no expert's output. The choices' rows are
// sorted by expert, in the order of tokens for each (a stable counting sort); rows and hidden hold the rows
// and what gate_up makes of them in this order, for backward. Rows behind the last are left as they are. One
// rank keeps no rows (of theirs R is 0): backward finds them in x, which is kept anyway.
//
// With the experts cut over the ranks of an axis (each has E/ranks of them and tokens of its own), rows
// travel to their expert's rank and back. A rank has room for R rows at once. Where more arrive, they come in
// rounds; the first round's rows and hidden are the ones kept, what comes later is sent and computed again in
// backward. `plan` is how many rows each rank has for each expert, so every rank knows all rounds.
#pragma once
#include "ops/op.h"

namespace trireme {

struct ExpertsAttrs {
  int64_t experts = 0;  // of all ranks
  int64_t top_k = 0;
  int64_t width = 0;            // C
  int64_t ffn = 0;              // F, of the weights here
  double receive_factor = 0.0;  // R is this times the rows that a rank sends; 0: room for all that may come
  AxisAttrs axis;
  template <class F>
  void fields(F&& f) {
    f("experts", experts);
    f("top_k", top_k);
    f("width", width);
    f("ffn", ffn);
    f("receive_factor", receive_factor);
    axis.fields(f);
  }
};

// Operands by their place.
struct ExpertsIn {
  enum : uint8_t { x, ids, weights, gate_up, down };
};
struct ExpertsOut {
  enum : uint8_t { y, rows, hidden, plan };
};
struct ExpertsGradIn {
  enum : uint8_t { dy, ids, weights, rows, hidden, gate_up, down, x, plan, gate_up_forward };
};
struct ExpertsGradOut {
  enum : uint8_t { dx, dweights, dgate_up, ddown };
};

// What the shapes of a call come to.
struct ExpertsSizes {
  int64_t tokens = 0, top_k = 0;   // of this rank
  int64_t experts = 0, owned = 0;  // of all ranks, of this one
  int64_t width = 0, ffn = 0;
  int64_t ranks = 1, rank = 0;
  int64_t room = 0;  // R
  DType dtype = DType::f32;
  bool rounds = false;  // more than R rows may arrive

  int64_t choices() const { return tokens * top_k; }
  int64_t row_bytes() const { return width * size_of(dtype); }
  int64_t gated_bytes() const { return ffn * size_of(dtype); }  // of a row after swiglu
};

// `x` is x or dy.
ExpertsSizes experts_sizes(const ExpertsAttrs& attrs, const TensorType& x);

// An expert's rows are worked off in blocks of about kWeightGradRows (ops/linear/linear.h): as many as
// experts_blocks says, of equal size but for one row, at most kExpertRows.
inline constexpr int64_t kExpertRows = 1536;
int64_t experts_blocks(int64_t rows);

// Where the kernels' scratch lies: offsets in bytes, multiples of 64.
struct ExpertsSpace {
  int64_t slot_of_choice = 0;          // i32[N*k]: the place of a choice among the sorted ones, or -1
  int64_t choice_of_slot = 0;          // i32[N*k]
  int64_t starts = 0;                  // i32[E]
  int64_t slots = 0;                   // [N*k,C]: a row per sorted choice, out and back
  int64_t slot_weights = 0;            // f32[N*k]: likewise
  int64_t source = 0;                  // i32[R]: where each row of an expert is found
  int64_t arrived = 0;                 // [R,C], with several ranks
  int64_t arrived_weights = 0;         // f32[R]: weights, in backward their gradients on the way back
  int64_t x_slots = 0, x_arrived = 0;  // the same for x, in backward with rounds
  int64_t rows = 0;                    // [block,C]: of one rank, and of later rounds
  int64_t hidden = 0;                  // [block,2F]: likewise
  int64_t outputs = 0;                 // [block,C]: on their way to `arrived`; in backward dy's rows
  int64_t gated = 0;                   // [block,F]
  int64_t dgated = 0;                  // [block,F], in backward
  int64_t dhidden = 0;                 // [block,2F], in backward
  int64_t product = 0;                 // of the products
  int64_t bytes = 0;
};
ExpertsSpace experts_space(const ExpertsSizes& sizes, int threads);
ExpertsSpace experts_grad_space(const ExpertsSizes& sizes, int threads);

}  // namespace trireme
