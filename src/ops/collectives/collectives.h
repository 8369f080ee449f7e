// Moves between placements on one mesh axis (Placement in ir/type.h). The shard pass puts them where a value
// lies otherwise than an op wants it.
//
//   all_gather(x){from}    slices  -> the whole, on every rank
//   slice(x){to}           whole   -> this rank's slice; nothing is sent
//   reduce_scatter(x){to}  addends -> this rank's slice of their sum
//   all_reduce(x)          addends -> their sum, on every rank; may be in place
//
// A slice is one of `ranks` equal parts, in rank order:
//   "rows"   of the rows, which the first row_dims dims count:
//            row_dims 2: [B,T,C] becomes [1,B*T/ranks,C]
//            row_dims 1: [N,C] becomes [N/ranks,C]
//   "shard"  of dim `dim`
// What does not divide is refused by the shape rules. Sums: f32, f64, or bf16, which is summed in f32 and
// rounded once, in the order of comm/sum_tree.h. The rest moves any dtype.
//
// Gradients are adjoints; the gradient of a whole value is whole on every rank, that of an addend is the
// sum's.
#pragma once
#include "ops/op.h"

namespace trireme {

struct GatherAttrs {
  AxisAttrs on;
  std::string from = "rows";  // rows | shard
  int64_t dim = 0;            // of the shard
  int64_t batch = 1;          // B of the whole that rows with row_dims 2 come from
  int64_t row_dims = 2;       // 1 | 2
  template <class F>
  void fields(F&& f) {
    on.fields(f);
    f("from", from);
    f("dim", dim);
    f("batch", batch);
    f("row_dims", row_dims);
  }
};

// slice, reduce_scatter
struct SliceAttrs {
  AxisAttrs on;
  std::string to = "rows";  // rows | shard
  int64_t dim = 0;          // of the shard
  int64_t row_dims = 2;     // 1 | 2
  template <class F>
  void fields(F&& f) {
    on.fields(f);
    f("to", to);
    f("dim", dim);
    f("row_dims", row_dims);
  }
};

// all_reduce has AxisAttrs alone.

// How slices lie in the whole: whole[outer][rank][inner], in elements. With outer = 1 a slice is contiguous
// there.
struct Slicing {
  int64_t outer = 1, inner = 0;
};

Slicing slicing_of(const std::string& cut, int64_t dim, const Shape& slice);

}  // namespace trireme
