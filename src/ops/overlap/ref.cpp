// The oracles, of a rank that is alone: a plain product. tests/ops/ranks checks more ranks against the two
// ops that each stands for.
#include <cstring>

#include "base/error.h"
#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

// y[r,j] = sum_i x[r,i] w[j,i] + b[j] in forward, sum_i x[r,i] w[i,j] of an input's gradient.
void multiply(const OpSig& sig, const ChunkSizes& s, const Operands& operands, const float* bias) {
  CHECK(s.ranks == 1, "the oracle of {} has no other ranks", sig.kind);
  const bool forward = unpack_attrs<OverlapAttrs>(sig.attrs).use == "forward";
  const auto *x = operands.in<float>(0), *w = operands.in<float>(1);
  auto* y = operands.out<float>(0);
  for (int64_t r = 0; r < s.rows; ++r)
    for (int64_t j = 0; j < s.n; ++j) {
      float sum = 0.0f;
      for (int64_t i = 0; i < s.k; ++i) sum += x[r * s.k + i] * (forward ? w[j * s.k + i] : w[i * s.n + j]);
      y[r * s.n + j] = bias != nullptr ? sum + bias[j] : sum;
    }
}

}  // namespace

void gather_linear_reference(const OpSig& sig, const Operands& operands) {
  multiply(sig, gather_linear_sizes(sig), operands, operands.in<float>(2));
  if (operands.outputs[1] != nullptr)
    std::memcpy(operands.outputs[1], operands.inputs[0], static_cast<size_t>(bytes_of(sig.inputs[0])));
}

void linear_scatter_reference(const OpSig& sig, const Operands& operands) {
  multiply(sig, linear_scatter_sizes(sig), operands, nullptr);
}

}  // namespace trireme
