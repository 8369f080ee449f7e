// balance and balance_grad on the CPU: tokens are shared out among the threads.
#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/balance/balance.h"
#include "ops/router/router.h"

namespace trireme {
namespace {

void token_gradient(int64_t experts, float by, const float* counts, const float* scores, float* dscores) {
  float sum = kLeastSum, mean = 0.0f;
  for (int64_t e = 0; e < experts; ++e) {
    sum += scores[e];
    mean += by * counts[e] * scores[e];
  }
  mean /= sum;
  for (int64_t e = 0; e < experts; ++e) dscores[e] = (by * counts[e] - mean) / sum;
}

}  // namespace

CpuKernel prepare_balance(const OpSig& sig, const CpuContext&) {
  return [bytes = static_cast<size_t>(bytes_of(sig.inputs[0]))](const Operands& operands) {
    if (operands.outputs[0] != operands.inputs[0])
      std::memcpy(operands.outputs[0], operands.inputs[0], bytes);
  };
}

CpuKernel prepare_balance_grad(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<BalanceAttrs>(sig.attrs);
  const int64_t batch = sig.inputs[0].shape[0], seq_len = sig.inputs[0].shape[1], E = a.experts;
  const int64_t sets = sig.inputs[1].shape[0];
  const double counted =
      static_cast<double>(a.tokens) / static_cast<double>(sets) * static_cast<double>(a.top_k);
  const auto by = static_cast<float>(a.coefficient * static_cast<double>(E) / counted);
  return [=](const Operands& operands) {
    parallel_for(context.threads, batch * seq_len, 64, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t)
        token_gradient(E, by, operands.in<float>(1) + (sets > 1 ? t / seq_len * E : 0),
                       operands.in<float>(0) + t * E, operands.out<float>(0) + t * E);
    });
  };
}

}  // namespace trireme
