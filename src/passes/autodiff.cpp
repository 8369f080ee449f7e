// Reverse-mode differentiation over the op lists, then the roles of the values that cross between the lists.
#include "passes/autodiff.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gradient.h"
#include "ops/op.h"

namespace trireme {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id.index); }

// Activations and parameters want gradients, and so does all that is computed from them by differentiable
// ops.
std::vector<bool> wanted(const Graph& graph) {
  std::vector<bool> wants(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i)
    wants[i] = graph.values[i].role == ValueRole::input || graph.values[i].role == ValueRole::param;
  for (const Op& op : graph.ops) {
    if (op_def(op.kind).gradient == nullptr) continue;
    const bool any = std::any_of(op.inputs.begin(), op.inputs.end(),
                                 [&](ValueId id) { return id.valid() && wants[at(id)]; });
    for (const ValueId id : op.outputs)
      if (id.valid()) wants[at(id)] = wants[at(id)] || any;
  }
  return wants;
}

bool is_loss(const Graph& graph, ValueId id) {
  const bool output = std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
  return output && graph.value(id).type.dtype == DType::f64;
}

// One output_grad per output that is no loss.
void seed(const Graph& graph, Tape& tape) {
  for (const ValueId output : graph.outputs) {
    if (is_loss(graph, output) || !tape.wants_grad[at(output)]) continue;
    const Value& value = graph.value(output);
    tape.grads[at(output)] = ValueId(static_cast<int64_t>(tape.values.size()));
    tape.values.push_back({value.name + ".grad", value.type, ValueRole::output_grad, value.placements});
  }
}

void run_gradient_rules(const Graph& graph, Tape& tape) {
  for (size_t i = graph.ops.size(); i-- > 0;) {
    const Op& op = graph.ops[i];
    const bool reached = std::any_of(op.outputs.begin(), op.outputs.end(), [&](ValueId id) {
      return id.valid() && (tape.grads[at(id)].valid() || tape.partial_grads[at(id)].valid() ||
                            (is_loss(graph, id) && tape.wants_grad[at(id)]));
    });
    const OpDef& def = op_def(op.kind);
    if (!reached || def.gradient == nullptr) continue;
    GradientBuilder builder(tape, i);
    def.gradient(builder);
  }
}

// A gradient that is passed through unchanged would be an output_grad and an input_grad at once: an input's
// gradient needs memory of its own.
void name_input_grads(const Graph& graph, Tape& tape) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].role != ValueRole::input || !tape.wants_grad[i]) continue;
    const ValueId grad = finished_grad(tape, ValueId(static_cast<int64_t>(i)));
    CHECK(grad.valid(), "{}: no gradient reaches input {}", graph.name, graph.values[i].name);
    Value& value = tape.values[at(grad)];
    CHECK(value.role == ValueRole::local, "{}: the gradient of {} has another role", graph.name,
          graph.values[i].name);
    value.role = ValueRole::input_grad;
    value.name = graph.values[i].name + ".grad";
  }
}

// An op belongs to the weight part when all that it makes ends in parameter gradients.
std::vector<Part> split_parts(const std::vector<Value>& values, const std::vector<Op>& backward) {
  std::vector<Part> parts(backward.size(), Part::weight);
  std::vector<bool> feeds_input(values.size());
  for (size_t i = 0; i < values.size(); ++i) feeds_input[i] = values[i].role == ValueRole::input_grad;
  for (size_t i = backward.size(); i-- > 0;) {
    for (const ValueId id : backward[i].outputs)
      if (id.valid() && feeds_input[at(id)]) parts[i] = Part::input;
    if (parts[i] == Part::weight) continue;
    for (const ValueId id : backward[i].inputs)
      if (id.valid()) feeds_input[at(id)] = true;
  }
  return parts;
}

void set_roles(Code& code, BackwardForm form) {
  std::vector<bool> by_forward(code.values.size()), by_input_part(code.values.size());
  for (const Op& op : code.forward)
    for (const ValueId id : op.outputs)
      if (id.valid()) by_forward[at(id)] = true;
  for (size_t i = 0; i < code.backward.size(); ++i)
    if (code.parts[i] == Part::input)
      for (const ValueId id : code.backward[i].outputs)
        if (id.valid()) by_input_part[at(id)] = true;
  for (size_t i = 0; i < code.backward.size(); ++i)
    for (const ValueId id : code.backward[i].inputs) {
      if (!id.valid() || code.values[at(id)].role != ValueRole::local) continue;
      if (by_forward[at(id)])
        code.values[at(id)].role = ValueRole::saved;
      else if (form == BackwardForm::split && by_input_part[at(id)] && code.parts[i] == Part::weight)
        code.values[at(id)].role = ValueRole::held;
    }
}

}  // namespace

Code autodiff(const Graph& graph, BackwardForm form, const AxisAttrs& tp) {
  Code code = forward_only(graph);
  Tape tape{code.values, code.forward, {}, wanted(graph), {}, {}, {}, tp};
  tape.grads.resize(graph.values.size());
  tape.partial_grads.resize(graph.values.size());
  tape.param_grads.resize(graph.values.size());
  seed(graph, tape);
  run_gradient_rules(graph, tape);
  name_input_grads(graph, tape);
  code.backward = std::move(tape.backward);
  code.parts = split_parts(code.values, code.backward);
  set_roles(code, form);
  make_names_unique(code.values);
  return code;
}

Code forward_only(const Graph& graph) {
  Code code;
  code.name = graph.name;
  code.values = graph.values;
  code.forward = graph.ops;
  for (const ValueId output : graph.outputs) code.values[at(output)].role = ValueRole::output;
  make_names_unique(code.values);
  return code;
}

}  // namespace trireme
