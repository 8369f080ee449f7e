// The oracles of mla_qkv, mla_values and their gradients: angles in f64, the rotation in f32.
#include <cmath>
#include <vector>

#include "ops/mla/mla.h"
#include "ops/op.h"

namespace trireme {
namespace {

// y[rope_dim] = x[rope_dim] turned by the angles of `position`; sign -1 turns back.
void turn(const RopeAttrs& rope, double position, double sign, const float* x, float* y) {
  const std::vector<double> frequencies = rope_frequencies(rope);
  const double amplitude = rope_amplitude(rope);
  const int64_t pairs = rope.head_dim / 2;
  for (int64_t i = 0; i < pairs; ++i) {
    const bool half = rope.layout == "half";
    const int64_t first = half ? i : 2 * i, second = half ? i + pairs : 2 * i + 1;
    const double angle = position * frequencies[static_cast<size_t>(i)];
    const auto cos = static_cast<float>(amplitude * std::cos(angle));
    const auto sin = static_cast<float>(amplitude * sign * std::sin(angle));
    const float a = x[first], b = x[second];
    y[first] = a * cos - b * sin;
    y[second] = b * cos + a * sin;
  }
}

double position_of(const int32_t* positions, int64_t row, int64_t length) {
  return static_cast<double>(positions != nullptr ? positions[row] : row % length);
}

}  // namespace

void mla_qkv_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(sig.attrs);
  const int64_t length = sig.inputs[0].shape[1], rows = sig.inputs[0].shape[0] * length;
  const int64_t heads = attrs.rope.heads, dim = attrs.head_dim(), nope = attrs.nope_dim, dv = attrs.v_dim;
  const int64_t dr = attrs.rope.head_dim;
  for (int64_t r = 0; r < rows; ++r) {
    const double position = position_of(operands.in<int32_t>(3), r, length);
    for (int64_t h = 0; h < heads; ++h) {
      const float* q = operands.in<float>(0) + (r * heads + h) * dim;
      const float* kv = operands.in<float>(1) + (r * heads + h) * (nope + dv);
      float* to_q = operands.out<float>(0) + (r * 3 * heads + h) * dim;
      float *to_k = to_q + heads * dim, *to_v = to_k + heads * dim;
      for (int64_t d = 0; d < nope; ++d) to_q[d] = q[d], to_k[d] = kv[d];
      turn(attrs.rope, position, 1, q + nope, to_q + nope);
      turn(attrs.rope, position, 1, operands.in<float>(2) + r * dr, to_k + nope);
      for (int64_t d = 0; d < dim; ++d) to_v[d] = d < dv ? kv[nope + d] : 0;
    }
  }
}

void mla_qkv_grad_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<MlaQkvAttrs>(sig.attrs);
  const int64_t length = sig.inputs[0].shape[1], rows = sig.inputs[0].shape[0] * length;
  const int64_t heads = attrs.rope.heads, dim = attrs.head_dim(), nope = attrs.nope_dim, dv = attrs.v_dim;
  const int64_t dr = attrs.rope.head_dim;
  std::vector<float> sum(static_cast<size_t>(dr));
  for (int64_t r = 0; r < rows; ++r) {
    const double position = position_of(operands.in<int32_t>(1), r, length);
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t h = 0; h < heads; ++h) {
      const float* dq = operands.in<float>(0) + (r * 3 * heads + h) * dim;
      const float *dk = dq + heads * dim, *dvalue = dk + heads * dim;
      float* to_q = operands.out<float>(0) + (r * heads + h) * dim;
      float* to_kv = operands.out<float>(1) + (r * heads + h) * (nope + dv);
      for (int64_t d = 0; d < nope; ++d) to_q[d] = dq[d], to_kv[d] = dk[d];
      turn(attrs.rope, position, -1, dq + nope, to_q + nope);
      for (int64_t d = 0; d < dr; ++d) sum[static_cast<size_t>(d)] += dk[nope + d];
      for (int64_t d = 0; d < dv; ++d) to_kv[nope + d] = dvalue[d];
    }
    turn(attrs.rope, position, -1, sum.data(), operands.out<float>(2) + r * dr);
  }
}

void mla_values_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(sig.attrs);
  const int64_t rows = sig.inputs[0].shape[0] * sig.inputs[0].shape[1] * attrs.heads;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t d = 0; d < attrs.v_dim; ++d)
      operands.out<float>(0)[r * attrs.v_dim + d] = operands.in<float>(0)[r * attrs.head_dim + d];
}

void mla_values_grad_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<MlaValuesAttrs>(sig.attrs);
  const int64_t rows = sig.inputs[0].shape[0] * sig.inputs[0].shape[1] * attrs.heads;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t d = 0; d < attrs.head_dim; ++d)
      operands.out<float>(0)[r * attrs.head_dim + d] =
          d < attrs.v_dim ? operands.in<float>(0)[r * attrs.v_dim + d] : 0;
}

}  // namespace trireme
