// Definition of grad_norm: the norm of the whole gradient from partial sums of squares, in index order, and
// the scale that clips it (torch.nn.utils.clip_grad_norm_'s formula).
#include "ops/grad_norm/grad_norm.h"

#include "ops/folders.h"
#include "ops/shape_rule.h"

namespace trireme {

void grad_norm_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> grad_norm_cases();

namespace {

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::f64 && in[0].shape.size() == 1, "grad_norm", "partials is f64[k]", in);
  expect_types(unpack_attrs<GradNormAttrs>(attrs).clip_norm >= 0, "grad_norm", "clip_norm is not negative",
               in);
  return {step_scalars_type()};
}

// Reads one slot and writes three.
Cost cost(const OpSig& sig) {
  constexpr int64_t kSlot = sizeof(double);
  return {.flops = count(sig.inputs[0].shape) + 4,
          .bytes_read = bytes_of(sig.inputs[0]) + kSlot,
          .bytes_written = 3 * kSlot};
}

}  // namespace

std::vector<OpEntry> grad_norm_ops() {
  OpDef grad_norm;
  grad_norm.name = "grad_norm";
  grad_norm.inputs = {{"partials"}};
  grad_norm.outputs = {{"scalars", OperandDef::Use::update}};
  grad_norm.infer = infer;
  grad_norm.cost = cost;
  grad_norm.reduction = [](const OpSig&) { return int64_t{1}; };  // summed in f64
  return {{grad_norm, grad_norm_reference, grad_norm_cases}};
}

}  // namespace trireme
