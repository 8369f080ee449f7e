// Definition of add: y = a + b, of equal types. The residual stream's sum, and the sum of gradients.
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void add_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> add_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && in[0] == in[1], "add", "a and b have one type, f32 or bf16", in);
  return {in[0]};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = count(sig.inputs[0].shape);
  return cost;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  builder.add_input_grad(0, dy);
  builder.add_input_grad(1, dy);
}

}  // namespace

std::vector<OpEntry> add_ops() {
  OpDef add;
  add.name = "add";
  add.inputs = {{"a"}, {"b"}};
  add.outputs = {{"y"}};
  add.infer = infer;
  add.cost = cost;
  add.gradient = gradient;
  add.place = place_by_elements;
  add.reduction = [](const OpSig&) { return int64_t{1}; };
  add.in_place = {{0, 0}};
  return {{add, add_reference, add_cases}};
}

}  // namespace trireme
