// The oracle: look-up, and its adjoint as a sum over positions.
#include "ops/embedding/embedding.h"
#include "ops/op.h"

namespace trireme {
namespace {

// Where a token's row lies in a table of `rows` rows; -1: in another part.
int64_t row_of(int32_t token, int64_t first, int64_t rows) {
  const int64_t row = token - first;
  return row >= 0 && row < rows ? row : -1;
}

}  // namespace

void embedding_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = count(sig.inputs[0].shape), width = sig.inputs[1].shape[1];
  const int64_t first = unpack_attrs<EmbeddingAttrs>(sig.attrs).first;
  const int32_t* tokens = operands.in<int32_t>(0);
  const float* table = operands.in<float>(1);
  float* y = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = row_of(tokens[r], first, sig.inputs[1].shape[0]);
    for (int64_t c = 0; c < width; ++c) y[r * width + c] = row < 0 ? 0.0f : table[row * width + c];
  }
}

void embedding_grad_reference(const OpSig& sig, const Operands& operands) {
  const int64_t rows = count(sig.inputs[0].shape), width = sig.inputs[1].shape[2];
  const auto a = unpack_attrs<EmbeddingGradAttrs>(sig.attrs);
  const int32_t* tokens = operands.in<int32_t>(0);
  const float* dy = operands.in<float>(1);
  float* dtable = operands.out<float>(0);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t row = row_of(tokens[r], a.first, a.vocab);
    if (row < 0) continue;
    for (int64_t c = 0; c < width; ++c) dtable[row * width + c] += dy[r * width + c];
  }
}

}  // namespace trireme
