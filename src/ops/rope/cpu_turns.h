// Cosines and sines by position, as the loops of cpu_kernels.h read them: for rope and for what else rotates.
#pragma once
#include <cstdint>
#include <vector>

#include "device/cpu/kernel.h"
#include "ops/rope/cpu_kernels.h"
#include "ops/rope/rope.h"

namespace trireme {

RopeRow pick_rope_row(RotaryLayout layout, DType dtype, CpuIsa isa);
inline RotaryLayout rotary_layout(const RopeAttrs& attrs) {
  return attrs.layout == "half" ? RotaryLayout::half : RotaryLayout::interleaved;
}

// Made by prepare and never changed. The rows of the first `length` positions are computed at once.
class RopeTurns {
 public:
  RopeTurns(const RopeAttrs& attrs, int64_t length);  // attrs.inverse gives the sign

  int64_t row_floats() const { return row_floats_; }
  // The row of a position, computed into `spare` (row_floats) where it is beyond the table.
  const float* row(int64_t position, float* spare) const;

 private:
  void fill(int64_t position, float* row) const;

  RotaryLayout layout_;
  int64_t dim_, row_floats_, length_;
  double amplitude_, sign_;
  std::vector<double> frequencies_;
  std::vector<float> table_;
};

}  // namespace trireme
