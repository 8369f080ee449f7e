// Definition of cast: the same numbers in another compute dtype, rounded to nearest even.
#include "ops/cast/cast.h"

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void cast_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> cast_cases();

namespace {

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  const auto to = dtype_named(unpack_attrs<CastAttrs>(attrs).to);
  expect_types(to && is_compute(*to), "cast", "to is f32 or bf16", in);
  expect_types(is_compute(in[0].dtype), "cast", "x is f32 or bf16", in);
  return {{*to, in[0].shape}};
}

// The gradient goes back in the dtype of x.
void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid() || !builder.wants_grad(0)) return;
  const Attrs back = pack_attrs(CastAttrs{std::string(name_of(builder.input_type(0).dtype))});
  builder.add_input_grad(0, builder.emit({"cast", back, {dy}, {}, {"dx"}})[0]);
}

}  // namespace

std::vector<OpEntry> cast_ops() {
  OpDef cast;
  cast.name = "cast";
  cast.inputs = {{"x"}};
  cast.outputs = {{"y"}};
  cast.infer = infer;
  cast.cost = traffic;
  cast.gradient = gradient;
  cast.place = place_by_elements;
  cast.reduction = [](const OpSig&) { return int64_t{1}; };
  return {{cast, cast_reference, cast_cases}};
}

}  // namespace trireme
