// Definition of zero: sets an accumulator of `count` f32 to 0 before the first micro-batch adds to it.
#include "ops/zero/zero.h"

#include "ops/folders.h"
#include "ops/shape_rule.h"

namespace trireme {

void zero_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> zero_cases();

namespace {

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  const int64_t n = unpack_attrs<ZeroAttrs>(attrs).count;
  expect_types(n > 0, "zero", "count is positive", in);
  return {{DType::f32, {n}}};
}

}  // namespace

std::vector<OpEntry> zero_ops() {
  OpDef zero;
  zero.name = "zero";
  zero.inputs = {};
  zero.outputs = {{"x", OperandDef::Use::update}};
  zero.infer = infer;
  zero.cost = traffic;
  zero.reduction = [](const OpSig&) { return int64_t{1}; };
  return {{zero, zero_reference, zero_cases}};
}

}  // namespace trireme
