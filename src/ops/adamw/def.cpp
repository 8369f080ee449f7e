// Definition of adamw (Loshchilov & Hutter 2019, "Decoupled weight decay regularization", algorithm 2) in
// torch.optim.AdamW's order of operations. Updates the f32 master copy and moments; scalars as in
// grad_norm.h.
#include "ops/adamw/adamw.h"

#include "ops/folders.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/shape_rule.h"

namespace trireme {

void adamw_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> adamw_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  const TensorType scalars{DType::f64, {static_cast<int64_t>(kStepScalars)}};
  expect_types(in[0].dtype == DType::f32 && in[0].shape.size() == 1, "adamw", "grad is f32[n]", in);
  expect_types(in[1] == scalars, "adamw", "scalars is f64[16]", in);
  return {in[0], in[0], in[0]};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.bytes_read += cost.bytes_written;  // updated in place
  cost.flops = 16 * count(sig.inputs[0].shape);
  return cost;
}

}  // namespace

std::vector<OpEntry> adamw_ops() {
  OpDef adamw;
  adamw.name = "adamw";
  adamw.inputs = {{"grad"}, {"scalars"}};
  adamw.outputs = {
      {"param", OperandDef::Use::update}, {"m", OperandDef::Use::update}, {"v", OperandDef::Use::update}};
  adamw.infer = infer;
  adamw.cost = cost;
  adamw.reduction = [](const OpSig&) { return int64_t{1}; };
  return {{adamw, adamw_reference, adamw_cases}};
}

}  // namespace trireme
