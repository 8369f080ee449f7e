// Products of tensor parallelism beside their collectives (Jangda et al. 2022, "Breaking the Computation and
// Communication Abstraction Barrier in Distributed Machine Learning Workloads", section 5.3): rows go in
// `chunks` runs, and while one is multiplied the next is on its way.
//
//   gather_linear(x, weight, bias)   = linear(all_gather(x))       x [1,N,k]    -> y [B,T,n], B*T = ranks*N;
//                                      with keep the second output is the gathered x, for others that read it
//   linear_scatter(x, weight)        = reduce_scatter(linear(x))   x [B,T,k]    -> y [1,N,n]
//
// Slices are "rows" of [B,T,C], as in ops/collectives/collectives.h. The product is linear (use = "forward":
// k = in, n = out) or linear_grad_input (use = "input_grad": k = out, n = in). A chunk is N/chunks rows of
// each rank. The results are those of the two ops to the bit: a product's row does not depend on the others,
// nor a sum over ranks on its neighbours. passes/overlap.h makes them after autodiff, so they have no
// gradient.
#pragma once
#include "ops/linear/linear.h"
#include "ops/op.h"
#include "ops/scratch.h"

namespace trireme {

// linear_scatter; of gather_linear what both have.
struct OverlapAttrs {
  AxisAttrs on;
  std::string use = "forward";  // forward | input_grad
  int64_t in = 0, out = 0;      // of the weight, as this rank has it
  int64_t chunks = 1;
  template <class F>
  void fields(F&& f) {
    on.fields(f);
    f("use", use);
    f("in", in);
    f("out", out);
    f("chunks", chunks);
  }
};

struct GatherLinearAttrs {
  OverlapAttrs product;
  int64_t batch = 1;  // B
  int64_t keep = 0;   // 1: the gathered x is an output
  template <class F>
  void fields(F&& f) {
    product.fields(f);
    f("batch", batch);
    f("keep", keep);
  }
};

// What both are made of.
struct ChunkSizes {
  int64_t ranks = 1, rank = 0;
  int64_t rows = 0, chunks = 1;  // of each rank
  int64_t k = 0, n = 0;
  int64_t x_row = 0, y_row = 0;  // bytes

  int64_t chunk_rows() const { return rows / chunks; }
  // Scratch behind the product's own: two chunks under way, of what the other ranks send (gather_linear
  // without keep), or of the addends for all ranks (linear_scatter). In bytes, multiples of 64.
  int64_t arriving_bytes() const { return scratch_piece(chunk_rows() * x_row * (ranks - 1)); }
  int64_t leaving_bytes() const { return scratch_piece(chunk_rows() * y_row * ranks); }
};

ChunkSizes gather_linear_sizes(const OpSig& sig);
ChunkSizes linear_scatter_sizes(const OpSig& sig);

}  // namespace trireme
