// The oracle of rope: angles in f64, the rotation in f32.
#include <cmath>

#include "ops/op.h"
#include "ops/rope/rope.h"

namespace trireme {

void rope_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<RopeAttrs>(sig.attrs);
  const auto frequencies = rope_frequencies(attrs);
  const double amplitude = rope_amplitude(attrs), sign = attrs.inverse != 0 ? -1 : 1;
  const int64_t rows = sig.inputs[0].shape[0] * sig.inputs[0].shape[1], length = sig.inputs[0].shape[1];
  const int64_t rotated = attrs.heads + attrs.kv_heads, all = rotated + attrs.kv_heads, dim = attrs.head_dim;
  const bool half = attrs.layout == "half";
  const int32_t* positions = operands.in<int32_t>(1);

  for (int64_t r = 0; r < rows; ++r) {
    const auto position = static_cast<double>(positions != nullptr ? positions[r] : r % length);
    for (int64_t head = 0; head < all; ++head) {
      const float* x = operands.in<float>(0) + (r * all + head) * dim;
      float* y = operands.out<float>(0) + (r * all + head) * dim;
      for (int64_t i = 0; i < dim / 2; ++i) {
        const int64_t first = half ? i : 2 * i, second = half ? i + dim / 2 : 2 * i + 1;
        const double angle = position * frequencies[static_cast<size_t>(i)];
        const bool turns = head < rotated;
        const float cos = turns ? static_cast<float>(amplitude * std::cos(angle)) : 1;
        const float sin = turns ? static_cast<float>(amplitude * sign * std::sin(angle)) : 0;
        const float a = x[first], b = x[second];
        y[first] = a * cos - b * sin;
        y[second] = b * cos + a * sin;
      }
    }
  }
}

}  // namespace trireme
