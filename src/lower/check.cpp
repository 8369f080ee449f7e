// The proof: one walk over each timeline with the set of live buffers, sorted by offset.
#include "lower/check.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "lower/place.h"
#include "ops/op.h"

namespace trireme {
namespace {

// Live buffers by offset: two neighbours that touch each other are all that can overlap.
class LiveSet {
 public:
  explicit LiveSet(const Program& program) : program_(program) {}

  void add(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    CHECK(buffer.offset >= 0 && buffer.offset % kBufferAlignment == 0, "{}: offset {}", buffer.name,
          buffer.offset);
    CHECK(buffer.offset + buffer.bytes <= program_.memory.arena_bytes, "{} reaches past the arena",
          buffer.name);
    const auto [it, fresh] = live_.emplace(buffer.offset, id);
    CHECK(fresh, "{} and {} start at one place", buffer.name, program_.buffer(it->second).name);
    if (it != live_.begin()) apart(std::prev(it)->second, id);
    if (std::next(it) != live_.end()) apart(id, std::next(it)->second);
  }

  void remove(BufferId id) { live_.erase(program_.buffer(id).offset); }

 private:
  void apart(BufferId lower, BufferId upper) const {
    const Buffer &a = program_.buffer(lower), &b = program_.buffer(upper);
    CHECK(a.offset + a.bytes <= b.offset, "{} [{}+{}] and {} [{}+{}] overlap", a.name, a.offset, a.bytes,
          b.name, b.offset, b.bytes);
  }

  const Program& program_;
  std::map<int64_t, BufferId> live_;
};

void check_memory(const Program& program, int32_t t) {
  const size_t actions = program.timelines[static_cast<size_t>(t)].actions.size();
  std::vector<std::vector<BufferId>> begins(actions), ends(actions);
  LiveSet live(program);
  for (size_t b = 0; b < program.memory.buffers.size(); ++b) {
    const Buffer& buffer = program.memory.buffers[b];
    const BufferId id(static_cast<int64_t>(b));
    if (buffer.timeline < 0) live.add(id);
    if (buffer.timeline != t || !buffer.first.valid()) continue;
    begins[static_cast<size_t>(buffer.first.index)].push_back(id);
    ends[static_cast<size_t>(buffer.last.index)].push_back(id);
  }
  for (size_t i = 0; i < actions; ++i) {
    for (const BufferId id : begins[i]) live.add(id);
    for (const BufferId id : ends[i]) live.remove(id);
  }
}

// The buffer that an action gives to values of a role, where the role is one of those.
BufferId action_buffer(const Action& action, ValueRole role) {
  switch (role) {
    case ValueRole::local:
      return action.workspace;
    case ValueRole::saved:
      return action.saved;
    case ValueRole::held:
      return action.held;
    case ValueRole::batch:
      return action.batch;
    default:
      return BufferId();
  }
}

const std::vector<Location>* action_list(const Action& action, ValueRole role) {
  switch (role) {
    case ValueRole::input:
      return &action.inputs;
    case ValueRole::output:
      return &action.outputs;
    case ValueRole::input_grad:
      return &action.input_grads;
    case ValueRole::output_grad:
      return &action.output_grads;
    default:
      return nullptr;
  }
}

void check_binding(const Program& program, const Action& action, const Unit& unit, ValueId id) {
  const Code& code = program.code(unit.code);
  const Value& value = code.value(id);
  const auto v = static_cast<size_t>(id.index);
  Location location;
  if (const auto* list = action_list(action, value.role)) {
    const std::vector<ValueId> same = values_with(code.values, value.role);
    const auto place = static_cast<size_t>(std::find(same.begin(), same.end(), id) - same.begin());
    CHECK(place < list->size(), "{} {}: {} has no memory", name_of(action.kind), unit.name, value.name);
    location = (*list)[place];
  } else if (unit.bound[v].buffer.valid()) {
    location = unit.bound[v];
  } else {
    location = {action_buffer(action, value.role),
                program.layouts[static_cast<size_t>(unit.code.index)].offset[v]};
  }
  CHECK(location.buffer.valid() && location.offset >= 0, "{} {}: {} has no memory", name_of(action.kind),
        unit.name, value.name);
  const Buffer& buffer = program.buffer(location.buffer);
  CHECK(location.offset + bytes_of(value.type) <= buffer.bytes, "{} {}: {} reaches past {}",
        name_of(action.kind), unit.name, value.name, buffer.name);
}

// Every operand of the first action of each kind and unit: the others of that kind are bound alike.
void check_bindings(const Program& program, const Timeline& timeline) {
  std::map<std::pair<ActionKind, UnitId>, bool> seen;
  for (const Action& action : timeline.actions) {
    if (!action.unit.valid() || !seen.emplace(std::pair(action.kind, action.unit), true).second) continue;
    const Unit& unit = program.unit(action.unit);
    for (const Op* op : ops_of(program.code(unit.code), section_of(action.kind)))
      for (const auto* ids : {&op->inputs, &op->outputs})
        for (const ValueId id : *ids)
          if (id.valid()) check_binding(program, action, unit, id);
  }
}

// A unit's backward follows its forward, micro-batch by micro-batch, and nothing is loaded twice.
void check_order(const Timeline& timeline) {
  std::map<std::pair<UnitId, int32_t>, bool> forward;
  std::vector<bool> loaded(static_cast<size_t>(timeline.micro_batches));
  for (const Action& action : timeline.actions) {
    if (action.kind == ActionKind::load) {
      CHECK(!loaded[static_cast<size_t>(action.micro_batch)], "micro-batch {} is loaded twice",
            action.micro_batch);
      loaded[static_cast<size_t>(action.micro_batch)] = true;
    }
    if (action.kind == ActionKind::forward) {
      CHECK(loaded[static_cast<size_t>(action.micro_batch)], "micro-batch {} is not loaded",
            action.micro_batch);
      forward[{action.unit, action.micro_batch}] = true;
    }
    if (action.kind == ActionKind::backward)
      CHECK(forward.erase({action.unit, action.micro_batch}) == 1, "backward without forward, micro-batch {}",
            action.micro_batch);
  }
}

}  // namespace

void check_program(const Program& program) {
  CHECK(program.layouts.size() == program.codes.size(), "a code has no layout");
  for (size_t t = 0; t < program.timelines.size(); ++t) {
    check_order(program.timelines[t]);
    check_bindings(program, program.timelines[t]);
    check_memory(program, static_cast<int32_t>(t));
  }
}

}  // namespace trireme
