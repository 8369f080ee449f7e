// The loss and its gradient for a chunk of rows of logits whose vocabulary is cut: each rank looks at its
// part of every row, the parts are exchanged once, and each rank ends its part knowing all. Parts are
// combined in rank order, so that all ranks have the same bits.
#pragma once
#include "comm/axis_comm.h"
#include "ops/head/head.h"
#include "ops/head/row_loss.h"

namespace trireme {

struct CutRowsOperands {
  int64_t rows = 0;
  std::byte* logits = nullptr;  // [rows,vocab], raw; with `gradient` the loss's gradient afterwards
  const int32_t* targets = nullptr;
  float* nll = nullptr;          // zeros before
  float* z_terms = nullptr;      // zeros before
  HeadRowPart* parts = nullptr;  // [ranks,rows], scratch
  const AxisComm* comm = nullptr;
};

class CutRows {
 public:
  enum class Gradient : bool { no, yes };
  CutRows(const HeadLossAttrs& attrs, DType dtype, Gradient gradient, const RowKernels& kernels, int threads);

  void run(const CutRowsOperands& o) const;

 private:
  HeadRowPart part_of_row(const CutRowsOperands& o, int64_t n) const;
  void end_row(const CutRowsOperands& o, int64_t n) const;
  std::byte* row(const CutRowsOperands& o, int64_t n) const;
  int64_t local_target(int32_t target) const;

  RowKernels kernels_;
  RowLossSpec spec_;
  HeadLossAttrs attrs_;
  DType dtype_;
  int threads_;
};

}  // namespace trireme
