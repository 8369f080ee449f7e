// Chooses the ops, then rewrites backward and the roles of the values.
#include "passes/recompute.h"

#include <algorithm>
#include <utility>

#include "ops/op.h"

namespace trireme {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id.index); }

// FLOPs per element that an op makes. Norms, activations and rotations take up to 9; a product takes twice
// its inner dim.
constexpr int64_t kCheapFlops = 16;

bool is_cheap(const Op& op, const std::vector<Value>& values) {
  const OpDef& def = op_def(op.kind);
  if (def.wire_bytes != nullptr) return false;
  int64_t elements = 0;
  for (const ValueId id : op.outputs)
    if (id.valid()) elements += count(values[at(id)].type.shape);
  return def.cost(signature(op, values)).flops <= kCheapFlops * elements;
}

bool may_rerun(const Op& op, const std::vector<Value>& values, Rerun which) {
  if (which == Rerun::all || op.kind == "all_gather") return true;
  return which == Rerun::cheap && is_cheap(op, values);
}

// By forward op.
using OpSet = std::vector<bool>;

// Values that forward makes for itself and backward alone.
bool may_go(const Value& value) { return value.role == ValueRole::local || value.role == ValueRole::saved; }

bool makes_one_of(const Op& op, const std::vector<bool>& values) {
  return std::any_of(op.outputs.begin(), op.outputs.end(),
                     [&](ValueId id) { return id.valid() && values[at(id)]; });
}

// By value: what backward reads of forward, or what ops of `again` read on its behalf.
std::vector<bool> needed_values(const Code& code, const OpSet& again) {
  std::vector<bool> needed(code.values.size());
  const auto need = [&](const Op& op) {
    for (const ValueId id : op.inputs)
      if (id.valid() && may_go(code.value(id))) needed[at(id)] = true;
  };
  for (const Op& op : code.backward) need(op);
  for (size_t i = code.forward.size(); i-- > 0;) {
    const Op& op = code.forward[i];
    if (again[i] && makes_one_of(op, needed)) need(op);
  }
  return needed;
}

int64_t kept_bytes(const Code& code, const OpSet& again) {
  const std::vector<bool> needed = needed_values(code, again);
  int64_t bytes = 0;
  for (size_t i = 0; i < code.forward.size(); ++i)
    for (const ValueId id : code.forward[i].outputs)
      if (!again[i] && id.valid() && needed[at(id)]) bytes += bytes_of(code.value(id).type);
  return bytes;
}

// All that may, but those whose leaving out keeps no byte more.
OpSet choose(const Code& code, Rerun which) {
  OpSet again(code.forward.size());
  for (size_t i = 0; i < again.size(); ++i) again[i] = may_rerun(code.forward[i], code.values, which);
  int64_t kept = kept_bytes(code, again);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < again.size(); ++i) {
      if (!again[i]) continue;
      again[i] = false;
      const int64_t without = kept_bytes(code, again);
      changed = changed || without <= kept;
      if (without <= kept)
        kept = without;
      else
        again[i] = true;
    }
  }
  return again;
}

constexpr size_t kNone = SIZE_MAX;

class Rewriter {
 public:
  Rewriter(Code& code, const OpSet& again)
      : code_(code), fresh_(code.values.size()), maker_(code.values.size(), kNone) {
    const std::vector<bool> needed = needed_values(code, again);
    for (size_t i = 0; i < again.size(); ++i) {
      const Op& op = code_.forward[i];
      for (const ValueId id : op.outputs)
        if (id.valid() && may_go(code_.value(id)))
          code_.values[at(id)].role = needed[at(id)] && !again[i] ? ValueRole::saved : ValueRole::local;
      if (again[i] && makes_one_of(op, needed)) add_copy(op);
    }
  }

  void rewrite(BackwardForm form) {
    for (Op& op : code_.backward) rename_inputs(op);
    choose_parts();
    insert();
    if (form == BackwardForm::split) hold();
  }

 private:
  // The op with values of its own. In the order of forward, so what it reads has its copy already.
  void add_copy(const Op& op) {
    Op copy = op;
    rename_inputs(copy);
    for (ValueId& output : copy.outputs) {
      if (!output.valid()) continue;
      const Value& first = code_.value(output);
      Value value{first.name + ".again", first.type, ValueRole::local, first.placements};
      const ValueId id(static_cast<int64_t>(code_.values.size()));
      code_.values.push_back(std::move(value));
      maker_.push_back(copies_.size());
      fresh_[at(std::exchange(output, id))] = id;
    }
    copies_.push_back(std::move(copy));
  }

  void rename_inputs(Op& op) const {
    for (ValueId& id : op.inputs)
      if (id.valid() && at(id) < fresh_.size() && fresh_[at(id)].valid()) id = fresh_[at(id)];
  }

  // The copies whose outputs the op reads.
  std::vector<size_t> sources(const Op& op) const {
    std::vector<size_t> copies;
    for (const ValueId id : op.inputs)
      if (id.valid() && maker_[at(id)] != kNone) copies.push_back(maker_[at(id)]);
    return copies;
  }

  bool reads_parameter(const Op& op) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(),
                       [&](ValueId id) { return id.valid() && code_.value(id).role == ValueRole::param; });
  }

  // Copies that feed each other go into one part.
  void choose_parts() {
    parts_.assign(copies_.size(), Part::weight);
    for (size_t i = 0; i < code_.backward.size(); ++i)
      if (code_.parts[i] == Part::input)
        for (const size_t c : sources(code_.backward[i])) parts_[c] = Part::input;
    for (size_t c = 0; c < copies_.size(); ++c)
      if (reads_parameter(copies_[c])) parts_[c] = Part::input;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t c = 0; c < copies_.size(); ++c)
        for (const size_t source : sources(copies_[c])) {
          if (parts_[c] == parts_[source]) continue;
          parts_[c] = parts_[source] = Part::input;
          changed = true;
        }
    }
  }

  // Each copy in front of its first reader, behind the copies that it reads.
  void insert() {
    const std::vector<Op> backward = std::exchange(code_.backward, {});
    const std::vector<Part> parts = std::exchange(code_.parts, {});
    std::vector<bool> placed(copies_.size());
    const auto place = [&](const auto& self, size_t c) -> void {
      if (placed[c]) return;
      placed[c] = true;
      for (const size_t source : sources(copies_[c])) self(self, source);
      code_.backward.push_back(copies_[c]);
      code_.parts.push_back(parts_[c]);
    };
    for (size_t i = 0; i < backward.size(); ++i) {
      for (const size_t c : sources(backward[i])) place(place, c);
      code_.backward.push_back(backward[i]);
      code_.parts.push_back(parts[i]);
    }
  }

  void hold() {
    for (size_t i = 0; i < code_.backward.size(); ++i) {
      if (code_.parts[i] != Part::weight) continue;
      for (const ValueId id : code_.backward[i].inputs)
        if (id.valid() && maker_[at(id)] != kNone && parts_[maker_[at(id)]] == Part::input)
          code_.values[at(id)].role = ValueRole::held;
    }
  }

  Code& code_;
  std::vector<Op> copies_;      // of forward ops, in their order
  std::vector<Part> parts_;     // by copy
  std::vector<ValueId> fresh_;  // by value of before: what stands for it in backward, or invalid
  std::vector<size_t> maker_;   // by value: the copy that makes it, or kNone
};

}  // namespace

void recompute(Code& code, BackwardForm form, Rerun which) {
  Rewriter(code, choose(code, which)).rewrite(form);
}

}  // namespace trireme
