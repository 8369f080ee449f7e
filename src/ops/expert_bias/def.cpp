// Definition of expert_bias.
#include "ops/expert_bias/expert_bias.h"

#include "ops/folders.h"
#include "ops/update.h"

namespace trireme {

void expert_bias_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> expert_bias_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::f32 && in[0].shape.size() == 2 && in[0].shape[0] == 2, "expert_bias",
               "load is f32[2,E]", in);
  expect_types(in[1] == step_scalars_type(), "expert_bias", "scalars is f64[16]", in);
  return {in[0], in[0]};
}

// A sum, a difference, a product and a sum per expert.
Cost cost(const OpSig& sig) { return update_cost(sig, 4 * sig.inputs[0].shape[1]); }

}  // namespace

std::vector<OpEntry> expert_bias_ops() {
  OpDef def;
  def.name = "expert_bias";
  def.inputs = {{"load"}, {"scalars"}};
  def.outputs = {{"state", OperandDef::Use::update}, {"last", OperandDef::Use::update}};
  def.infer = infer;
  def.cost = cost;
  def.reduction = [](const OpSig&) { return int64_t{1}; };  // loads are whole numbers, their sum is exact
  return {{def, expert_bias_reference, expert_bias_cases}};
}

}  // namespace trireme
