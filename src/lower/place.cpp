// Lifetimes by a walk over the actions; offsets by a second walk that takes and gives back.
#include "lower/place.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lower/interval_arena.h"

namespace trireme {

std::vector<int64_t> ends_of(const std::vector<Action>& actions) {
  std::vector<int64_t> ends(actions.size());
  const auto n = static_cast<int64_t>(actions.size());
  std::vector<int64_t> joined(actions.size(), n);  // by comm or p2p action: the first that waits for it
  for (int64_t i = n; i-- > 0;)
    for (const ActionId id : actions[static_cast<size_t>(i)].waits) joined[static_cast<size_t>(id.index)] = i;
  // A stream keeps its order, and on p2p each link: what is waited for has those before it done as well.
  std::map<CommId, int64_t> next;  // by link; the comm stream under an invalid one
  for (int64_t i = n; i-- > 0;) {
    const Action& action = actions[static_cast<size_t>(i)];
    ends[static_cast<size_t>(i)] = i;
    if (action.stream == Stream::compute) continue;
    const CommId queue = action.stream == Stream::p2p ? action.transfers.at(0).comm : CommId();
    const auto it = next.try_emplace(queue, n).first;
    it->second = std::min(it->second, joined[static_cast<size_t>(i)]);
    ends[static_cast<size_t>(i)] = it->second - 1;
  }
  return ends;
}

namespace {

// The values that a section's ops touch and that a unit binds: found once per code and section.
class BoundValues {
 public:
  explicit BoundValues(const Program& program) : program_(program) {}

  const std::vector<size_t>& of(CodeId id, Section section) {
    const auto [it, fresh] = known_.try_emplace({id, section});
    if (fresh) it->second = find(program_.code(id), section);
    return it->second;
  }

 private:
  static std::vector<size_t> find(const Code& code, Section section) {
    std::vector<size_t> indices;
    for (const Op* op : ops_of(code, section))
      for (const auto* ids : {&op->inputs, &op->outputs})
        for (const ValueId id : *ids)
          if (id.valid()) indices.push_back(static_cast<size_t>(id.index));
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    return indices;
  }

  const Program& program_;
  std::map<std::pair<CodeId, Section>, std::vector<size_t>> known_;
};

template <class Visit>
void visit_buffers(const Program& program, BoundValues& bound, const Action& action, const Visit& visit) {
  for (const BufferId id : {action.workspace, action.saved, action.held, action.batch})
    if (id.valid()) visit(id);
  for (const auto* list : {&action.inputs, &action.outputs, &action.input_grads, &action.output_grads})
    for (const Location& location : *list) visit(location.buffer);
  for (const Transfer& transfer : action.transfers)
    for (const Location& location : {transfer.from, transfer.to}) visit(location.buffer);
  if (!action.unit.valid()) return;
  const Unit& unit = program.unit(action.unit);
  for (const size_t value : bound.of(unit.code, section_of(action.kind)))
    if (unit.bound[value].buffer.valid()) visit(unit.bound[value].buffer);
}

void set_lifetimes(Program& program, int32_t timeline, BoundValues& bound) {
  const std::vector<Action>& actions = program.timelines[static_cast<size_t>(timeline)].actions;
  const std::vector<int64_t> ends = ends_of(actions);
  for (size_t i = 0; i < actions.size(); ++i)
    visit_buffers(program, bound, actions[i], [&](BufferId id) {
      Buffer& buffer = program.memory.buffers[static_cast<size_t>(id.index)];
      if (buffer.timeline != timeline) return;
      if (!buffer.first.valid()) buffer.first = ActionId(static_cast<int64_t>(i));
      buffer.last = std::max(buffer.last, ActionId(ends[i]));
    });
}

// Packed weights come one by one, among copies that die at once, and stay; so do accumulators in the first
// backward, among activations. With several micro-batches they would lie scattered where the next ones'
// activations want to be: better to keep their places free from the start. With one, better to take over
// places that activations have left.
enum class Stayers : uint8_t { as_they_come, from_start };

// Returns the bytes above `base` that the timeline needs.
int64_t place_timeline(Program& program, int32_t timeline, int64_t base, Stayers stayers) {
  const size_t actions = program.timelines[static_cast<size_t>(timeline)].actions.size();
  std::vector<std::vector<Buffer*>> begins(actions), ends(actions);
  for (Buffer& buffer : program.memory.buffers) {
    if (buffer.timeline != timeline || !buffer.first.valid()) continue;
    const bool early = stayers == Stayers::from_start &&
                       (buffer.cls == BufferClass::gradient || buffer.cls == BufferClass::prepared);
    begins[early ? 0 : static_cast<size_t>(buffer.first.index)].push_back(&buffer);
    ends[static_cast<size_t>(buffer.last.index)].push_back(&buffer);
  }
  // What lives longest goes lowest, so that short-lived ones leave no gaps between long-lived ones.
  IntervalArena arena(kBufferAlignment);
  for (size_t i = 0; i < actions; ++i) {
    std::stable_sort(begins[i].begin(), begins[i].end(),
                     [](const Buffer* a, const Buffer* b) { return a->last.index > b->last.index; });
    for (Buffer* buffer : begins[i]) buffer->offset = base + arena.take(buffer->bytes);
    for (Buffer* buffer : ends[i]) arena.give_back(buffer->offset - base, buffer->bytes);
  }
  return arena.peak_bytes();
}

int64_t place_timeline(Program& program, int32_t timeline, int64_t base) {
  const int64_t as_they_come = place_timeline(program, timeline, base, Stayers::as_they_come);
  const int64_t from_start = place_timeline(program, timeline, base, Stayers::from_start);
  if (from_start <= as_they_come) return from_start;
  return place_timeline(program, timeline, base, Stayers::as_they_come);
}

}  // namespace

void place(Program& program) {
  BoundValues bound(program);
  for (size_t t = 0; t < program.timelines.size(); ++t)
    set_lifetimes(program, static_cast<int32_t>(t), bound);
  IntervalArena lasting(kBufferAlignment);
  for (Buffer& buffer : program.memory.buffers)
    if (buffer.timeline < 0) buffer.offset = lasting.take(buffer.bytes);
  const int64_t base = lasting.peak_bytes();
  program.memory.arena_bytes = base;
  for (size_t t = 0; t < program.timelines.size(); ++t)
    program.memory.arena_bytes =
        std::max(program.memory.arena_bytes, base + place_timeline(program, static_cast<int32_t>(t), base));
}

std::vector<BufferId> buffers_of(const Program& program, const Action& action) {
  BoundValues bound(program);
  std::vector<BufferId> ids;
  visit_buffers(program, bound, action, [&](BufferId id) { ids.push_back(id); });
  return ids;
}

}  // namespace trireme
