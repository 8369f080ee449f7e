// The rules, checked op by op in the order in which the lists run.
#include "passes/verify.h"

#include <stdexcept>
#include <unordered_set>

#include "base/error.h"
#include "ir/print.h"
#include "ops/op.h"

namespace trireme {
namespace {

bool is_optional(const OperandDef& operand) {
  return operand.use == OperandDef::Use::optional || operand.use == OperandDef::Use::optional_accumulate;
}

bool is_added_to(const OperandDef& operand) {
  return operand.use == OperandDef::Use::accumulate || operand.use == OperandDef::Use::optional_accumulate ||
         operand.use == OperandDef::Use::update;
}

class Verifier {
 public:
  Verifier(const std::vector<Value>& values, std::string_view name, std::string_view after)
      : values_(values), where_(fmt::format("{} after {}", name, after)), made_(values.size()) {
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < values.size(); ++i) {
      CHECK(names.insert(values[i].name).second, "{}: two values are called {}", where_, values[i].name);
      const ValueRole role = values[i].role;
      made_[i] = role == ValueRole::input || role == ValueRole::output_grad || role == ValueRole::batch ||
                 role == ValueRole::param || role == ValueRole::param_grad || role == ValueRole::state;
    }
  }

  void op(const Op& op) const {
    const OpEntry* entry = find_op(op.kind);
    CHECK(entry != nullptr, "{}: no op is called {}", where_, op.kind);
    operands(op, op.inputs, entry->def.inputs);
    operands(op, op.outputs, entry->def.outputs);
    types(op, entry->def);
  }

  void run(const Op& op) {
    for (const ValueId id : op.inputs)
      if (id.valid())
        CHECK(made_[index(id)], "{}: {} is used before it is made: {}", where_, values_[index(id)].name,
              line(op));
    const OpDef& def = op_def(op.kind);
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      if (!op.outputs[i].valid()) continue;
      const Value& value = values_[index(op.outputs[i])];
      if (is_added_to(def.outputs[i])) {
        CHECK(value.role == ValueRole::param_grad || value.role == ValueRole::state,
              "{}: {} is added to but is no accumulator: {}", where_, value.name, line(op));
        continue;
      }
      const bool stays = value.role == ValueRole::state;  // a state may be written anew
      CHECK(stays || !made_[index(op.outputs[i])], "{}: {} is made twice: {}", where_, value.name, line(op));
      made_[index(op.outputs[i])] = true;
    }
  }

  void made(ValueId id) const {
    CHECK(id.valid() && made_[index(id)], "{}: an output is never made", where_);
  }

 private:
  static size_t index(ValueId id) { return static_cast<size_t>(id.index); }
  std::string line(const Op& op) const { return op_text(op, values_); }

  void operands(const Op& op, const std::vector<ValueId>& ids, const std::vector<OperandDef>& defs) const {
    CHECK(ids.size() <= defs.size(), "{}: too many operands: {}", where_, line(op));
    for (size_t i = 0; i < defs.size(); ++i) {
      const bool given = i < ids.size() && ids[i].valid();
      CHECK(given || is_optional(defs[i]), "{}: operand {} is missing: {}", where_, defs[i].name, line(op));
      if (given) CHECK(index(ids[i]) < values_.size(), "{}: no value {}", where_, ids[i].index);
    }
  }

  void types(const Op& op, const OpDef& def) const {
    const OpSig sig = signature(op, values_);
    std::vector<TensorType> inferred;
    try {
      inferred = def.infer(sig.attrs, sig.inputs);
    } catch (const std::invalid_argument& refusal) {
      CHECK(false, "{}: {}: {}", where_, refusal.what(), line(op));
    }
    for (size_t i = 0; i < op.outputs.size(); ++i)
      if (op.outputs[i].valid())
        CHECK(sig.outputs[i] == inferred[i], "{}: {} is {}, not {}: {}", where_,
              values_[index(op.outputs[i])].name, to_string(sig.outputs[i]), to_string(inferred[i]),
              line(op));
  }

  const std::vector<Value>& values_;
  std::string where_;
  std::vector<bool> made_;
};

}  // namespace

void verify(const Graph& graph, std::string_view after) {
  Verifier verifier(graph.values, graph.name, after);
  for (const Op& op : graph.ops) {
    verifier.op(op);
    verifier.run(op);
  }
  for (const ValueId id : graph.outputs) verifier.made(id);
}

void verify(const Code& code, std::string_view after) {
  CHECK(code.parts.size() == code.backward.size(), "{}: parts and backward ops differ in number", code.name);
  Verifier verifier(code.values, code.name, after);
  // The input part must stand without the weight part: run it first, as split schedules do.
  for (const Section section :
       {Section::prepare, Section::forward, Section::backward_input, Section::backward_weight})
    for (const Op* op : ops_of(code, section)) {
      verifier.op(*op);
      verifier.run(*op);
    }
}

}  // namespace trireme
