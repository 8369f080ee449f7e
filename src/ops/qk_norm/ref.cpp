// The oracle of qk_norm and qk_norm_grad.
#include <cmath>

#include "ops/op.h"
#include "ops/qk_norm/qk_norm.h"

namespace trireme {

void qk_norm_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<QkNormAttrs>(sig.attrs);
  const int64_t tokens = sig.inputs[0].shape[0] * sig.inputs[0].shape[1], dim = attrs.head_dim;
  const int64_t normed = attrs.heads + attrs.kv_heads, all = normed + attrs.kv_heads;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t head = 0; head < all; ++head) {
      const float* x = operands.in<float>(0) + (t * all + head) * dim;
      const float* weight = operands.in<float>(head < attrs.heads ? 1 : 2);
      float* y = operands.out<float>(0) + (t * all + head) * dim;
      if (head >= normed) {
        for (int64_t d = 0; d < dim; ++d) y[d] = x[d];
        continue;
      }
      float squares = 0;
      for (int64_t d = 0; d < dim; ++d) squares += x[d] * x[d];
      const float rstd = 1 / std::sqrt(squares / static_cast<float>(dim) + static_cast<float>(attrs.eps));
      operands.out<float>(1)[t * normed + head] = rstd;
      for (int64_t d = 0; d < dim; ++d) y[d] = x[d] * rstd * weight[d];
    }
}

// With n = x rstd: dx = rstd (dy w - n mean(dy w n)) and dw = sum of dy n.
void qk_norm_grad_reference(const OpSig& sig, const Operands& operands) {
  const auto attrs = unpack_attrs<QkNormAttrs>(sig.attrs);
  const int64_t tokens = sig.inputs[0].shape[0] * sig.inputs[0].shape[1], dim = attrs.head_dim;
  const int64_t normed = attrs.heads + attrs.kv_heads, all = normed + attrs.kv_heads;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t head = 0; head < all; ++head) {
      const float* x = operands.in<float>(0) + (t * all + head) * dim;
      const float* dy = operands.in<float>(4) + (t * all + head) * dim;
      const float* weight = operands.in<float>(head < attrs.heads ? 1 : 2);
      float* dx = operands.out<float>(0) + (t * all + head) * dim;
      float* dweight = operands.out<float>(head < attrs.heads ? 1 : 2);
      if (head >= normed) {
        for (int64_t d = 0; d < dim; ++d) dx[d] = dy[d];
        continue;
      }
      const float rstd = operands.in<float>(3)[t * normed + head];
      float mean = 0;
      for (int64_t d = 0; d < dim; ++d) mean += dy[d] * weight[d] * x[d] * rstd;
      mean /= static_cast<float>(dim);
      for (int64_t d = 0; d < dim; ++d) {
        const float n = x[d] * rstd, slope = dy[d];
        if (dweight != nullptr) dweight[d] += slope * n;
        dx[d] = rstd * (slope * weight[d] - n * mean);
      }
    }
}

}  // namespace trireme
