// Definition of adamw (Loshchilov & Hutter 2019, "Decoupled weight decay regularization", algorithm 2) in
// torch.optim.AdamW's order of operations. Updates the f32 master copy and moments; scalars as in
// grad_norm.h.
#include "ops/adamw/adamw.h"

#include "ops/folders.h"
#include "ops/update.h"

namespace trireme {

void adamw_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> adamw_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_flat_update("adamw", in);
  return {in[0], in[0], in[0]};
}

Cost cost(const OpSig& sig) { return update_cost(sig, 16 * count(sig.inputs[0].shape)); }

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
