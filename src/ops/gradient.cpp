// The tape operations behind gradient rules.
#include "ops/gradient.h"

#include <utility>

#include "ops/op.h"

namespace trireme {

GradientBuilder::GradientBuilder(Tape& tape, size_t forward_index) : tape_(tape), index_(forward_index) {}

const Op& GradientBuilder::op() const { return tape_.forward[index_]; }

static ValueId at(const std::vector<ValueId>& ids, int i) {
  return static_cast<size_t>(i) < ids.size() ? ids[static_cast<size_t>(i)] : ValueId();
}

ValueId GradientBuilder::input(int i) const { return at(op().inputs, i); }
const TensorType& GradientBuilder::input_type(int i) const {
  return tape_.values[static_cast<size_t>(input(i).index)].type;
}

ValueId GradientBuilder::output(int i) const { return at(op().outputs, i); }

ValueId GradientBuilder::output_grad(int i) const {
  const ValueId value = output(i);
  return value.valid() ? at(tape_.grads, value.index) : ValueId();
}

bool GradientBuilder::wants_grad(int i) const {
  const ValueId value = input(i);
  return value.valid() && tape_.wants_grad[static_cast<size_t>(value.index)];
}

ValueId GradientBuilder::param_grad(int i) {
  if (!wants_grad(i)) return ValueId();
  const auto index = static_cast<size_t>(input(i).index);
  const Value& param = tape_.values[index];
  CHECK(param.role == ValueRole::param, "{} is no parameter", param.name);
  if (!tape_.param_grads[index].valid()) {
    tape_.param_grads[index] = ValueId(static_cast<int64_t>(tape_.values.size()));
    tape_.values.push_back(
        {param.name + ".grad", {DType::f32, param.type.shape}, ValueRole::param_grad, param.placements});
  }
  return tape_.param_grads[index];
}

ValueId GradientBuilder::take_input_grad(int i) {
  const ValueId value = input(i);
  return value.valid() ? std::exchange(tape_.grads[static_cast<size_t>(value.index)], ValueId()) : ValueId();
}

void GradientBuilder::add_grad(ValueId value, ValueId grad) {
  ValueId& sum = tape_.grads[static_cast<size_t>(value.index)];
  if (!sum.valid()) {
    sum = grad;
    return;
  }
  const ValueId earlier = sum;
  sum = emit(
      {"add", {}, {earlier, grad}, {}, {tape_.values[static_cast<size_t>(value.index)].name + ".grad"}})[0];
}

void GradientBuilder::add_input_grad(int i, ValueId grad) {
  if (wants_grad(i)) add_grad(input(i), grad);
}

std::vector<ValueId> GradientBuilder::make_outputs(const Emit& emit) {
  const OpDef& def = op_def(emit.kind);
  std::vector<TensorType> inputs;
  for (const ValueId id : emit.inputs)
    inputs.push_back(id.valid() ? tape_.values[static_cast<size_t>(id.index)].type : absent_type());
  const std::vector<TensorType> types = def.infer(emit.attrs, inputs);
  std::vector<ValueId> outputs = emit.outputs;
  outputs.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (outputs[i].valid() || i >= emit.names.size() || emit.names[i].empty()) continue;
    outputs[i] = ValueId(static_cast<int64_t>(tape_.values.size()));
    tape_.values.push_back({emit.names[i], types[i], ValueRole::local, {}});
  }
  return outputs;
}

std::vector<ValueId> GradientBuilder::emit(const Emit& emit) {
  std::vector<ValueId> outputs = make_outputs(emit);
  tape_.backward.push_back({emit.kind, emit.attrs, emit.inputs, outputs});
  return outputs;
}

std::vector<ValueId> GradientBuilder::replace_forward(const Emit& emit) {
  std::vector<ValueId> outputs = make_outputs(emit);
  tape_.forward[index_] = {emit.kind, emit.attrs, emit.inputs, outputs};
  return outputs;
}

}  // namespace trireme
