// The oracle of balance and balance_grad.
#include <algorithm>

#include "ops/balance/balance.h"
#include "ops/router/router.h"

namespace trireme {

void reference_balance(const OpSig& sig, const Operands& operands) {
  const auto* weights = operands.in<float>(0);
  std::copy(weights, weights + count(sig.inputs[0].shape), operands.out<float>(0));
}

// With a_e = coefficient E f_e: d/ds_e of sum_e a_e s_e / S is (a_e - sum_i a_i p_i) / S.
void reference_balance_grad(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<BalanceAttrs>(sig.attrs);
  const Shape& shape = sig.inputs[0].shape;
  const int64_t E = a.experts, sets = sig.inputs[1].shape[0];
  const float counted = static_cast<float>(a.tokens) / static_cast<float>(sets) * static_cast<float>(a.top_k);
  const float by = static_cast<float>(a.coefficient) * static_cast<float>(E) / counted;
  const auto *scores = operands.in<float>(0), *counts = operands.in<float>(1);
  auto* dscores = operands.out<float>(0);
  for (int64_t t = 0; t < shape[0] * shape[1]; ++t, scores += E, dscores += E) {
    const float* n = counts + (sets > 1 ? t / shape[1] * E : 0);
    float sum = kLeastSum, mean = 0.0f;
    for (int64_t e = 0; e < E; ++e) sum += scores[e];
    for (int64_t e = 0; e < E; ++e) mean += by * n[e] * scores[e] / sum;
    for (int64_t e = 0; e < E; ++e) dscores[e] = (by * n[e] - mean) / sum;
  }
}

}  // namespace trireme
