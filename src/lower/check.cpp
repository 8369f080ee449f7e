// The proof, timeline by timeline: the order of actions, a walk with the set of live buffers sorted by
// offset, and a walk over every operand of every action.
#include "lower/check.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
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

// --- what actions touch -----------------------------------------------------------------------------------

// One operand of a section's ops, in the order in which they run: reads before writes of the same op.
struct Use {
  size_t value = 0;
  size_t ordinal = 0;  // among the values of its role
  bool writes = false;
};

// The uses of a section: found once per code and section, since many actions run it.
class Uses {
 public:
  explicit Uses(const Program& program) : program_(program) {}

  const std::vector<Use>& of(CodeId id, Section section) {
    const auto [it, fresh] = known_.try_emplace({id, section});
    if (fresh) it->second = find(program_.code(id), section);
    return it->second;
  }

 private:
  // What is added to is read. An `update` is of state that outlives the timeline, or zero's, which only
  // writes.
  static bool is_read_too(OperandDef::Use use) {
    return use == OperandDef::Use::accumulate || use == OperandDef::Use::optional_accumulate;
  }

  static std::vector<Use> find(const Code& code, Section section) {
    std::array<size_t, static_cast<size_t>(ValueRole::local) + 1> counts{};
    std::vector<size_t> ordinal;
    for (const Value& value : code.values) ordinal.push_back(counts[static_cast<size_t>(value.role)]++);
    std::vector<Use> uses;
    const auto add = [&](ValueId id, bool writes) {
      if (id.valid())
        uses.push_back({static_cast<size_t>(id.index), ordinal[static_cast<size_t>(id.index)], writes});
    };
    for (const Op* op : ops_of(code, section)) {
      const OpDef& def = op_def(op->kind);
      for (const ValueId id : op->inputs) add(id, false);
      for (size_t i = 0; i < op->outputs.size(); ++i)
        if (is_read_too(def.outputs[i].use)) add(op->outputs[i], false);
      for (const ValueId id : op->outputs) add(id, true);
    }
    return uses;
  }

  const Program& program_;
  std::map<std::pair<CodeId, Section>, std::vector<Use>> known_;
};

// Where a value lies when `action` runs; an invalid buffer when nobody has said so.
Location location_of(const Program& program, const Action& action, const Unit& unit, const Use& use) {
  const auto listed = [&](const std::vector<Location>& list) {
    return use.ordinal < list.size() ? list[use.ordinal] : Location{};
  };
  const auto placed = [&](BufferId buffer) {
    return Location{buffer, program.layouts[static_cast<size_t>(unit.code.index)].offset[use.value]};
  };
  switch (program.code(unit.code).values[use.value].role) {
    case ValueRole::input:
      return listed(action.inputs);
    case ValueRole::output:
      return listed(action.outputs);
    case ValueRole::input_grad:
      return listed(action.input_grads);
    case ValueRole::output_grad:
      return listed(action.output_grads);
    case ValueRole::local:
      return placed(action.workspace);
    case ValueRole::saved:
      return placed(action.saved);
    case ValueRole::held:
      return placed(action.held);
    case ValueRole::batch:
      return placed(action.batch);
    default:
      return unit.bound[use.value];
  }
}

// Follows one timeline: every operand has memory that is alive, and what is read has been written. Buffers
// that live as long as the program come with contents: the state of earlier steps.
class Walk {
 public:
  Walk(const Program& program, int32_t timeline, Uses& uses)
      : program_(program), timeline_(timeline), uses_(uses), written_(program.memory.buffers.size()) {}

  void run() {
    const std::vector<Action>& actions = program_.timelines[static_cast<size_t>(timeline_)].actions;
    for (now_ = 0; now_ < static_cast<int32_t>(actions.size()); ++now_) {
      const Action& action = actions[static_cast<size_t>(now_)];
      for (const ActionId id : action.waits) join(actions, id);
      if (action.stream != Stream::compute)
        communicate(action);
      else if (action.kind == ActionKind::load)
        load(action);
      else
        compute(action);
    }
    for (const auto& [key, since] : in_flight_) outlives(key.first, now_ - 1);
  }

 private:
  struct Range {
    int64_t begin, end;  // bytes
  };

  // By link of the p2p stream; the comm stream under an invalid one.
  static CommId queue_of(const Action& action) {
    return action.stream == Stream::p2p ? action.transfers.at(0).comm : CommId();
  }

  // A queue keeps its order: whoever waits for one of its actions has waited for those before it.
  void join(const std::vector<Action>& actions, ActionId id) {
    CHECK(id.index < now_ && actions[static_cast<size_t>(id.index)].stream != Stream::compute,
          "action {} waits for {}, which is no earlier comm action", now_, id.index);
    const CommId queue = queue_of(actions[static_cast<size_t>(id.index)]);
    std::erase_if(in_flight_, [&](const auto& entry) {
      if (entry.first.second != queue || entry.second.action > id.index) return false;
      outlives(entry.first.first, now_ - 1);
      return true;
    });
  }

  void outlives(BufferId id, int32_t action) const {
    const Buffer& buffer = program_.buffer(id);
    CHECK(buffer.timeline < 0 || buffer.last.index >= action, "{} dies before a comm action is done with it",
          buffer.name);
  }

  void communicate(const Action& action) {
    CHECK(action.waits.empty() && !action.unit.valid() && !action.transfers.empty(),
          "comm action {} is not made of transfers alone", now_);
    CHECK(action.stream == Stream::comm || action.transfers.size() == 1, "p2p action {} is not one transfer",
          now_);
    for (const Transfer& transfer : action.transfers) {
      CHECK(is_message(transfer.op) == (action.stream == Stream::p2p), "{} {} is on the wrong stream",
            name_of(action.kind), now_);
      const CommGroup& group = program_.comms.at(static_cast<size_t>(transfer.comm.index));
      const int64_t bytes = transfer.count * size_of(transfer.dtype);
      const int64_t all = bytes * static_cast<int64_t>(group.ranks.size());
      const int64_t read = transfer.op == CommOp::reduce_scatter ? all : bytes;
      const int64_t made = transfer.op == CommOp::all_gather ? all : bytes;
      reach(transfer.from, read, action);
      reach(transfer.to, made, action);
      CHECK(transfer.op == CommOp::recv || is_written(transfer.from, read),
            "{} {}: {} is read before it is written", name_of(action.kind), now_,
            program_.buffer(transfer.from.buffer).name);
      if (transfer.op != CommOp::send) write(transfer.to, made);
    }
    for (const Transfer& transfer : action.transfers) {
      take(transfer.from.buffer, action, false);
      take(transfer.to.buffer, action, transfer.op != CommOp::send);
    }
  }

  void take(BufferId id, const Action& action, bool written) {
    Flight& flight = in_flight_[{id, queue_of(action)}];
    flight = {now_, flight.written || written};
  }

  // A comm action may read what compute reads.
  bool is_free(BufferId id, bool writes) const {
    for (auto it = in_flight_.lower_bound({id, CommId()}); it != in_flight_.end() && it->first.first == id;
         ++it)
      if (writes || it->second.written) return false;
    return true;
  }

  // Memory of a comm action, alive now.
  void reach(const Location& location, int64_t bytes, const Action& action) const {
    CHECK(location.buffer.valid() && location.offset >= 0, "{} {} has no memory", name_of(action.kind), now_);
    const Buffer& buffer = program_.buffer(location.buffer);
    CHECK(location.offset + bytes <= buffer.bytes, "{} {} reaches past {}", name_of(action.kind), now_,
          buffer.name);
    alive(location.buffer);
  }

  void load(const Action& action) {
    CHECK(action.batch.valid(), "micro-batch {} is loaded to nowhere", action.micro_batch);
    alive(action.batch);
    write({action.batch, 0}, program_.batch_bytes);
  }

  void compute(const Action& action) {
    const Unit& unit = program_.unit(action.unit);
    const Code& code = program_.code(unit.code);
    for (const Use& use : uses_.of(unit.code, section_of(action.kind))) {
      const Value& value = code.values[use.value];
      const Location location = location_of(program_, action, unit, use);
      CHECK(location.buffer.valid() && location.offset >= 0, "{} {}: {} has no memory", name_of(action.kind),
            unit.name, value.name);
      const int64_t bytes = bytes_of(value.type);
      const Buffer& buffer = program_.buffer(location.buffer);
      CHECK(location.offset + bytes <= buffer.bytes, "{} {}: {} reaches past {}", name_of(action.kind),
            unit.name, value.name, buffer.name);
      alive(location.buffer);
      CHECK(is_free(location.buffer, use.writes), "{} {}: {} is used while a comm action has it",
            name_of(action.kind), unit.name, buffer.name);
      // A workspace belongs to one action: verify() has seen to the order of its locals.
      if (value.role == ValueRole::local) continue;
      if (use.writes)
        write(location, bytes);
      else
        CHECK(is_written(location, bytes), "{} {}: {} is read before it is written", name_of(action.kind),
              unit.name, value.name);
    }
  }

  void alive(BufferId id) const {
    const Buffer& buffer = program_.buffer(id);
    if (buffer.timeline < 0) return;
    CHECK(buffer.timeline == timeline_ && buffer.first.index <= now_ && now_ <= buffer.last.index,
          "{} is used by action {} of timeline {}, outside its life", buffer.name, now_, timeline_);
  }

  bool is_written(const Location& location, int64_t bytes) const {
    if (program_.buffer(location.buffer).timeline < 0) return true;
    for (const Range& range : written_[static_cast<size_t>(location.buffer.index)])
      if (range.begin <= location.offset && location.offset + bytes <= range.end) return true;
    return false;
  }

  void write(const Location& location, int64_t bytes) {
    if (is_written(location, bytes)) return;
    std::vector<Range>& ranges = written_[static_cast<size_t>(location.buffer.index)];
    // Parts are written in the order of their offsets: rows of losses, partial sums.
    if (!ranges.empty() && ranges.back().end == location.offset)
      ranges.back().end += bytes;
    else
      ranges.push_back({location.offset, location.offset + bytes});
  }

  const Program& program_;
  int32_t timeline_;
  Uses& uses_;
  int32_t now_ = 0;
  std::vector<std::vector<Range>> written_;  // by buffer
  // Buffers of comm actions that nothing has waited for, by queue, with the last of them.
  struct Flight {
    int32_t action = 0;
    bool written = false;
  };
  std::map<std::pair<BufferId, CommId>, Flight> in_flight_;
};

// --- order ------------------------------------------------------------------------------------------------

// A block's backward follows its forward, micro-batch by micro-batch; where there is any backward, none is
// left out; and nothing is loaded twice.
void check_order(const Program& program, const Timeline& timeline) {
  enum class State : uint8_t { forward, input_part };
  std::map<std::pair<std::string_view, int32_t>, State> open;
  std::vector<bool> loaded(static_cast<size_t>(timeline.micro_batches));
  bool trains = false;
  for (const Action& action : timeline.actions) {
    const std::string_view name = action.unit.valid() ? std::string_view(program.unit(action.unit).name) : "";
    const std::pair key(name, action.micro_batch);
    const auto is = [&](State state) {
      const auto found = open.find(key);
      return found != open.end() && found->second == state;
    };
    const auto has = [&](const Action& one, Section part) {
      return !ops_of(program.code(program.unit(one.unit).code), part).empty();
    };
    const auto expect = [&](State state) {
      CHECK(is(state), "{}: {} of micro-batch {} out of order", name, name_of(action.kind),
            action.micro_batch);
    };
    if (action.kind == ActionKind::load) {
      CHECK(!loaded[static_cast<size_t>(action.micro_batch)], "micro-batch {} is loaded twice",
            action.micro_batch);
      loaded[static_cast<size_t>(action.micro_batch)] = true;
    } else if (action.kind == ActionKind::forward) {
      CHECK(loaded[static_cast<size_t>(action.micro_batch)], "micro-batch {} is not loaded",
            action.micro_batch);
      CHECK(open.emplace(key, State::forward).second, "{}: micro-batch {} goes forward twice", name,
            action.micro_batch);
    } else if (action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight) {
      const bool alone = action.kind == ActionKind::backward || !has(action, Section::backward_input);
      expect(alone ? State::forward : State::input_part);
      open.erase(key);
      trains = true;
    } else if (action.kind == ActionKind::backward_input) {
      expect(State::forward);
      open[key] = State::input_part;
      if (!has(action, Section::backward_weight)) open.erase(key);
      trains = true;
    }
  }
  CHECK(!trains || open.empty(), "{}: micro-batch {} has no backward", open.begin()->first.first,
        open.begin()->first.second);
}

}  // namespace

void check_program(const Program& program) {
  CHECK(program.layouts.size() == program.codes.size(), "a code has no layout");
  Uses uses(program);
  for (size_t t = 0; t < program.timelines.size(); ++t) {
    check_order(program, program.timelines[t]);
    check_memory(program, static_cast<int32_t>(t));
    Walk(program, static_cast<int32_t>(t), uses).run();
  }
}

}  // namespace trireme
