// Definition of sgd: m = momentum m + g, w = w (1 - lr weight_decay) - lr m. Momentum as in torch.optim.SGD
// without dampening (Sutskever et al. 2013, section 2, scales m by lr); weight decay is decoupled as adamw's,
// torch's is added to g. Updates the f32 master copy and the momentum; scalars as in grad_norm.h.
#include "ops/sgd/sgd.h"

#include "ops/folders.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/shape_rule.h"

namespace trireme {

void sgd_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> sgd_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  const TensorType scalars{DType::f64, {static_cast<int64_t>(kStepScalars)}};
  expect_types(in[0].dtype == DType::f32 && in[0].shape.size() == 1, "sgd", "grad is f32[n]", in);
  expect_types(in[1] == scalars, "sgd", "scalars is f64[16]", in);
  return {in[0], in[0]};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.bytes_read += cost.bytes_written;  // updated in place
  cost.flops = 7 * count(sig.inputs[0].shape);
  return cost;
}

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
