// The tape operations behind gradient rules.
#include "ops/gradient.h"

#include <algorithm>
#include <utility>

#include "ops/op.h"

namespace trireme {
namespace {

ValueId at(const std::vector<ValueId>& ids, int i) {
  return static_cast<size_t>(i) < ids.size() ? ids[static_cast<size_t>(i)] : ValueId();
}

Placement& place_on_tp(Value& value) { return value.placements.axes[static_cast<size_t>(BlockAxis::tp)]; }

Value& value_of(Tape& tape, ValueId id) { return tape.values[static_cast<size_t>(id.index)]; }

std::vector<ValueId> make_outputs(Tape& tape, const GradientBuilder::Emit& emit) {
  const OpDef& def = op_def(emit.kind);
  const std::vector<TensorType> types = def.infer(emit.attrs, types_of(emit.inputs, tape.values));
  std::vector<ValueId> outputs = emit.outputs;
  outputs.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (outputs[i].valid() || i >= emit.names.size() || emit.names[i].empty()) continue;
    outputs[i] = ValueId(static_cast<int64_t>(tape.values.size()));
    tape.values.push_back({emit.names[i], types[i], ValueRole::local, {}});
  }
  return outputs;
}

std::vector<ValueId> emit_backward(Tape& tape, const GradientBuilder::Emit& emit) {
  std::vector<ValueId> outputs = make_outputs(tape, emit);
  tape.backward.push_back({emit.kind, emit.attrs, emit.inputs, outputs});
  return outputs;
}

}  // namespace

ValueId sum_grads(Tape& tape, ValueId value, ValueId earlier, ValueId later) {
  if (!earlier.valid()) return later;
  return emit_backward(tape, {"add", {}, {earlier, later}, {}, {value_of(tape, value).name + ".grad"}})[0];
}

ValueId finished_grad(Tape& tape, ValueId value) {
  const auto index = static_cast<size_t>(value.index);
  const ValueId addends = std::exchange(tape.partial_grads[index], ValueId());
  if (addends.valid()) {
    const ValueId whole = emit_backward(
        tape, {"all_reduce", pack_attrs(tape.tp), {addends}, {}, {value_of(tape, value).name + ".grad"}})[0];
    tape.grads[index] = sum_grads(tape, value, tape.grads[index], whole);
  }
  return tape.grads[index];
}

GradientBuilder::GradientBuilder(Tape& tape, size_t forward_index) : tape_(tape), index_(forward_index) {}

const Op& GradientBuilder::op() const { return tape_.forward[index_]; }

ValueId GradientBuilder::input(int i) const { return at(op().inputs, i); }
const TensorType& GradientBuilder::input_type(int i) const {
  return tape_.values[static_cast<size_t>(input(i).index)].type;
}

ValueId GradientBuilder::output(int i) const { return at(op().outputs, i); }

GradientBuilder::ArrivedGrad GradientBuilder::arrived_grad(int i) const {
  const ValueId value = output(i);
  if (!value.valid()) return {};
  return {at(tape_.grads, value.index), at(tape_.partial_grads, value.index)};
}

ValueId GradientBuilder::output_grad(int i) {
  const ValueId value = output(i);
  return value.valid() ? finished_grad(tape_, value) : ValueId();
}

bool GradientBuilder::wants_grad(int i) const {
  const ValueId value = input(i);
  return value.valid() && tape_.wants_grad[static_cast<size_t>(value.index)];
}

ValueId GradientBuilder::param_grad(int i) {
  if (!wants_grad(i)) return ValueId();
  const Value& param = value_of(tape_, input(i));
  CHECK(param.role == ValueRole::param, "{} is no parameter", param.name);
  const bool addends = gives_addends(i);
  ValueId& grad = tape_.param_grads[static_cast<size_t>(input(i).index)];
  if (!grad.valid()) {
    Value sum{param.name + ".grad", {DType::f32, param.type.shape}, ValueRole::param_grad, param.placements};
    if (addends) place_on_tp(sum) = kPartial;
    grad = ValueId(static_cast<int64_t>(tape_.values.size()));
    tape_.values.push_back(std::move(sum));
  }
  CHECK((place_on_tp(value_of(tape_, grad)) == kPartial) == addends, "{} is read both whole and in parts",
        value_of(tape_, input(i)).name);
  return grad;
}

ValueId GradientBuilder::take_input_grad(int i) {
  const ValueId value = input(i);
  return value.valid() ? std::exchange(tape_.grads[static_cast<size_t>(value.index)], ValueId()) : ValueId();
}

// Input i is whole, and another operand is cut.
bool GradientBuilder::gives_addends(int i) const {
  const auto cut = [&](ValueId id) {
    if (!id.valid()) return false;
    const Placement::Kind kind = place_on_tp(tape_.values[static_cast<size_t>(id.index)]).kind;
    return kind == Placement::Kind::shard || kind == Placement::Kind::rows;
  };
  if (place_on_tp(tape_.values[static_cast<size_t>(input(i).index)]) != kReplicate) return false;
  return std::any_of(op().inputs.begin(), op().inputs.end(), cut) ||
         std::any_of(op().outputs.begin(), op().outputs.end(), cut);
}

void GradientBuilder::add_input_grad(int i, ValueId grad) {
  if (wants_grad(i)) add_grad(gives_addends(i) ? tape_.partial_grads : tape_.grads, input(i), grad);
}

void GradientBuilder::add_whole_input_grad(int i, ValueId grad) {
  if (wants_grad(i)) add_grad(tape_.grads, input(i), grad);
}

void GradientBuilder::add_grad(std::vector<ValueId>& sums, ValueId value, ValueId grad) {
  ValueId& sum = sums[static_cast<size_t>(value.index)];
  sum = sum_grads(tape_, value, sum, grad);
}

std::vector<ValueId> GradientBuilder::emit(const Emit& emit) { return emit_backward(tape_, emit); }

std::vector<ValueId> GradientBuilder::replace_forward(const Emit& emit) {
  std::vector<ValueId> outputs = make_outputs(tape_, emit);
  tape_.forward[index_] = {emit.kind, emit.attrs, emit.inputs, outputs};
  return outputs;
}

}  // namespace trireme
