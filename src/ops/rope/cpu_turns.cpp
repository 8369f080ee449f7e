// The table of cosines and sines, in f64 before it is rounded.
#include "ops/rope/cpu_turns.h"

#include <cmath>

namespace trireme {

RopeRow pick_rope_row(RotaryLayout layout, DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return rope_row_avx512_bf16(layout, dtype);
  if (isa >= CpuIsa::avx512) return rope_row_avx512(layout, dtype);
  if (isa >= CpuIsa::avx2) return rope_row_avx2(layout, dtype);
  return rope_row_baseline(layout, dtype);
}

RopeTurns::RopeTurns(const RopeAttrs& attrs, int64_t length)
    : layout_(rotary_layout(attrs)),
      dim_(attrs.head_dim),
      row_floats_(layout_ == RotaryLayout::half ? attrs.head_dim : 2 * attrs.head_dim),
      length_(length),
      amplitude_(rope_amplitude(attrs)),
      sign_(attrs.inverse != 0 ? -1.0 : 1.0),
      frequencies_(rope_frequencies(attrs)),
      table_(static_cast<size_t>(length * row_floats_)) {
  for (int64_t t = 0; t < length; ++t) fill(t, table_.data() + t * row_floats_);
}

const float* RopeTurns::row(int64_t position, float* spare) const {
  if (position < length_) return table_.data() + position * row_floats_;
  fill(position, spare);
  return spare;
}

void RopeTurns::fill(int64_t position, float* row) const {
  for (int64_t i = 0; i < dim_ / 2; ++i) {
    const double angle = static_cast<double>(position) * frequencies_[static_cast<size_t>(i)];
    const auto cos = static_cast<float>(amplitude_ * std::cos(angle));
    const auto sin = static_cast<float>(amplitude_ * sign_ * std::sin(angle));
    if (layout_ == RotaryLayout::half) {
      row[i] = cos;
      row[dim_ / 2 + i] = sin;
    } else {
      row[2 * i] = row[2 * i + 1] = cos;
      row[dim_ + 2 * i] = -sin;
      row[dim_ + 2 * i + 1] = sin;
    }
  }
}

}  // namespace trireme
