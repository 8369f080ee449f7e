// Shared rules of norms.
#include "ops/layernorm/norm_rules.h"

namespace trireme {
namespace {

int64_t rows_of(const TensorType& x) { return count(x.shape) / x.shape.back(); }

bool is_accumulator(const OpSig& sig, const TensorType& output) {
  return output.dtype == DType::f32 && output.shape == Shape{sig.inputs[0].shape.back()};
}

bool is_gradient(const OpSig& sig) { return sig.kind == "layernorm_grad" || sig.kind == "rmsnorm_grad"; }

}  // namespace

TensorType row_statistic(const TensorType& x) {
  return {DType::f32, Shape(x.shape.begin(), x.shape.end() - 1)};
}

bool is_gain(const TensorType& gain, const TensorType& x) {
  return is_compute(x.dtype) && x.shape.size() >= 2 && gain == TensorType{x.dtype, {x.shape.back()}};
}

Cost norm_cost(const OpSig& sig, int64_t per_element) {
  Cost cost = traffic(sig);
  cost.flops = per_element * count(sig.inputs[0].shape);
  if (!is_gradient(sig)) return cost;
  for (size_t i = 1; i < sig.outputs.size(); ++i) cost.bytes_read += bytes_of(sig.outputs[i]);
  return cost;
}

int64_t norm_grad_scratch(const OpSig& sig) {
  const int64_t width = sig.inputs[0].shape.back();
  int64_t sums = 0;
  for (size_t i = 1; i < sig.outputs.size(); ++i) sums += is_accumulator(sig, sig.outputs[i]) ? 1 : 0;
  return sums * norm_chunks(rows_of(sig.inputs[0])) * width * static_cast<int64_t>(sizeof(float));
}

int64_t norm_reduction(const OpSig& sig) {
  const int64_t width = sig.inputs[0].shape.back();
  return is_gradient(sig) ? std::max(width, rows_of(sig.inputs[0])) : width;
}

}  // namespace trireme
