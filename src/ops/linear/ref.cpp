// The oracle of the linear ops. Its packed form is each plain weight followed by zeros.
#include <algorithm>

#include "ops/linear/linear.h"

namespace trireme {

void reference_pack(const OpSig& sig, const Operands& operands) {
  const Shape& shape = sig.inputs[0].shape;
  const int64_t weights = shape.size() == 3 ? shape[0] : 1;
  const int64_t plain = count(shape) / weights, packed = count(sig.outputs[0].shape) / weights;
  const auto* weight = operands.in<float>(0);
  auto* out = operands.out<float>(0);
  for (int64_t w = 0; w < weights; ++w, weight += plain, out += packed) {
    std::copy(weight, weight + plain, out);
    std::fill(out + plain, out + packed, 0.0f);
  }
}

// y[n,o] = sum_i x[n,i] w[o,i] + b[o]
void reference_linear(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<LinearAttrs>(sig.attrs);
  const int64_t rows = count(sig.inputs[0].shape) / a.in;
  const auto *x = operands.in<float>(0), *w = operands.in<float>(1), *bias = operands.in<float>(2);
  auto* y = operands.out<float>(0);
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t o = 0; o < a.out; ++o) {
      float sum = 0.0f;
      for (int64_t i = 0; i < a.in; ++i) sum += x[n * a.in + i] * w[o * a.in + i];
      y[n * a.out + o] = bias != nullptr ? sum + bias[o] : sum;
    }
}

// dx[n,i] = sum_o dy[n,o] w[o,i]
void reference_linear_grad_input(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<LinearAttrs>(sig.attrs);
  const int64_t rows = count(sig.inputs[0].shape) / a.out;
  const auto *dy = operands.in<float>(0), *w = operands.in<float>(1);
  auto* dx = operands.out<float>(0);
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t i = 0; i < a.in; ++i) {
      float sum = 0.0f;
      for (int64_t o = 0; o < a.out; ++o) sum += dy[n * a.out + o] * w[o * a.in + i];
      dx[n * a.in + i] = sum;
    }
}

// dw[o,i] += sum_n dy[n,o] x[n,i];  db[o] += sum_n dy[n,o]
void reference_linear_grad_weight(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<LinearGradWeightAttrs>(sig.attrs);
  const int64_t rows = count(sig.inputs[0].shape) / a.in;
  const auto *x = operands.in<float>(0), *dy = operands.in<float>(1);
  auto *dw = operands.out<float>(0), *db = operands.out<float>(1);
  for (int64_t o = 0; o < a.out; ++o) {
    for (int64_t i = 0; i < a.in; ++i) {
      float sum = 0.0f;
      for (int64_t n = 0; n < rows; ++n) sum += dy[n * a.out + o] * x[n * a.in + i];
      dw[o * a.in + i] += sum;
    }
    if (a.bias == 0) continue;
    float sum = 0.0f;
    for (int64_t n = 0; n < rows; ++n) sum += dy[n * a.out + o];
    db[o] += sum;
  }
}

}  // namespace trireme
