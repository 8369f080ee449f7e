// Definition of sgd: m = momentum m + g, w = w (1 - lr weight_decay) - lr m. Momentum as in torch.optim.SGD
// without dampening (Sutskever et al. 2013, section 2, scales m by lr); weight decay is decoupled as adamw's,
// torch's is added to g. Updates the f32 master copy and the momentum; scalars as in grad_norm.h.
#include "ops/sgd/sgd.h"

#include "ops/folders.h"
#include "ops/update.h"

namespace trireme {

void sgd_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> sgd_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_flat_update("sgd", in);
  return {in[0], in[0]};
}

Cost cost(const OpSig& sig) { return update_cost(sig, 7 * count(sig.inputs[0].shape)); }

}  // namespace

std::vector<OpEntry> sgd_ops() {
  OpDef sgd;
  sgd.name = "sgd";
  sgd.inputs = {{"grad"}, {"scalars"}};
  sgd.outputs = {{"param", OperandDef::Use::update}, {"m", OperandDef::Use::update}};
  sgd.infer = infer;
  sgd.cost = cost;
  sgd.reduction = [](const OpSig&) { return int64_t{1}; };
  return {{sgd, sgd_reference, sgd_cases}};
}

}  // namespace trireme
