// The walk over a timeline: pointers from roles, kernels from sections.
#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/error.h"
#include "ops/op_axis.h"

namespace trireme {
namespace {

std::vector<int32_t> ordinals_by_role(const Code& code) {
  std::array<int32_t, static_cast<size_t>(ValueRole::local) + 1> counts{};
  std::vector<int32_t> ordinals;
  for (const Value& value : code.values) ordinals.push_back(counts[static_cast<size_t>(value.role)]++);
  return ordinals;
}

}  // namespace

Engine::Engine(const Program& program, Device& device, Communicators communicators)
    : program_(program),
      device_(device),
      communicators_(communicators.begin(), communicators.end()),
      queues_(1 + program.comms.size()) {
  arena_ = device_.allocate_arena(program_.memory.arena_bytes);
  prepared_.resize(program_.codes.size());
  for (const Code& code : program_.codes) ordinals_.push_back(ordinals_by_role(code));
  for (const Timeline& timeline : program_.timelines)
    for (const Action& action : timeline.actions) prepare(action);
}

// Only what some action runs is prepared.
void Engine::prepare(const Action& action) {
  if (action.stream != Stream::compute) {
    std::unique_ptr<CommWorker>& queue = queues_[queue_of(action)];
    if (!queue) queue = std::make_unique<CommWorker>();
    if (!device_.host_addressable()) return;
    for (const Transfer& transfer : action.transfers) {
      const auto comm = static_cast<size_t>(transfer.comm.index);
      CHECK(comm < communicators_.size() && communicators_[comm] != nullptr, "no communicator for {}",
            program_.comms[comm].name);
    }
  }
  if (!action.unit.valid()) return;
  const CodeId id = program_.unit(action.unit).code;
  PreparedSection& section =
      prepared_[static_cast<size_t>(id.index)][static_cast<size_t>(section_of(action.kind))];
  if (!section.ops.empty()) return;
  const Code& code = program_.code(id);
  section.ops = ops_of(code, section_of(action.kind));
  for (const Op* op : section.ops) {
    const OpSig sig = signature(*op, code.values);
    const OpDef& def = op_def(op->kind);
    section.kernels.push_back(device_.prepare(sig));
    section.comms.push_back(comm_of(*op));
    section.has_scratch.push_back(def.scratch_bytes != nullptr &&
                                  def.scratch_bytes(sig, program_.threads) > 0);
  }
}

// What an op that names a mesh axis is given.
const AxisComm* Engine::comm_of(const Op& op) {
  const std::string_view axis = axis_of(op);
  if (axis.empty() || !device_.host_addressable()) return nullptr;
  for (size_t a = 0; a < axes_.size(); ++a) {
    if (name_of(static_cast<BlockAxis>(a)) != axis) continue;
    const CommId id = program_.axes[a];
    CHECK(id.valid() && static_cast<size_t>(id.index) < communicators_.size(),
          "{} talks on {}, which has no ranks", op.kind, axis);
    if (axes_[a].ranks == nullptr) {
      axis_queues_[a] = std::make_unique<CommWorker>();
      axes_[a] = {communicators_[static_cast<size_t>(id.index)], axis_queues_[a].get(), nullptr};
    }
    return &axes_[a];
  }
  CHECK(false, "{} talks on {}, which is no axis", op.kind, axis);
}

size_t Engine::queue_of(const Action& action) {
  return action.stream == Stream::comm ? 0 : 1 + static_cast<size_t>(action.transfers.at(0).comm.index);
}

std::byte* Engine::at(const Location& location) const {
  return arena_ + program_.buffer(location.buffer).offset + location.offset;
}

std::byte* Engine::pointer(const Action& action, const Unit& unit, const CodeLayout& layout, const Code& code,
                           ValueId id) const {
  if (!id.valid()) return nullptr;
  const auto v = static_cast<size_t>(id.index);
  const auto ordinal = static_cast<size_t>(ordinals_[static_cast<size_t>(unit.code.index)][v]);
  switch (code.values[v].role) {
    case ValueRole::input:
      return at(action.inputs[ordinal]);
    case ValueRole::output:
      return at(action.outputs[ordinal]);
    case ValueRole::input_grad:
      return at(action.input_grads[ordinal]);
    case ValueRole::output_grad:
      return at(action.output_grads[ordinal]);
    case ValueRole::batch:
      return at({action.batch, layout.offset[v]});
    case ValueRole::saved:
      return at({action.saved, layout.offset[v]});
    case ValueRole::held:
      return at({action.held, layout.offset[v]});
    case ValueRole::local:
      return at({action.workspace, layout.offset[v]});
    default:
      return at(unit.bound[v]);
  }
}

void Engine::run_action(const Action& action, size_t index) {
  const Unit& unit = program_.unit(action.unit);
  const auto c = static_cast<size_t>(unit.code.index);
  const Code& code = program_.codes[c];
  const CodeLayout& layout = program_.layouts[c];
  const auto s = static_cast<size_t>(section_of(action.kind));
  const PreparedSection& section = prepared_[c][s];
  std::vector<void*> inputs, outputs;
  for (size_t i = 0; i < section.ops.size(); ++i) {
    const Op& op = *section.ops[i];
    const OpDef& def = op_def(op.kind);
    inputs.assign(def.inputs.size(), nullptr);
    outputs.assign(def.outputs.size(), nullptr);
    for (size_t k = 0; k < op.inputs.size(); ++k)
      inputs[k] = pointer(action, unit, layout, code, op.inputs[k]);
    for (size_t k = 0; k < op.outputs.size(); ++k)
      outputs[k] = pointer(action, unit, layout, code, op.outputs[k]);
    std::byte* scratch = section.has_scratch[i] ? at({action.workspace, layout.scratch[s][i]}) : nullptr;
    const AxisComm* comm = section.comms[i];
    const bool noted = comm != nullptr && timing_ == Timing::on;
    const double start = profile_ != nullptr || noted ? seconds_now() : 0;
    const int64_t sent = noted ? comm->ranks->sent_bytes() : 0;
    device_.run(section.kernels[i], {inputs, outputs, scratch, comm});
    if (noted) {
      device_.synchronize();
      note_axis_calls(op, static_cast<size_t>(comm - axes_.data()), index, {start, seconds_now()},
                      comm->ranks->sent_bytes() - sent);
    }
    if (profile_ == nullptr) continue;
    device_.synchronize();
    OpTime& time = (*profile_)[op.kind];
    time.seconds += seconds_now() - start;
    ++time.calls;
  }
}

// The op itself is shown by what it sent from its own thread, if anything.
void Engine::note_axis_calls(const Op& op, size_t axis, size_t action, const ActionTime& time, int64_t sent) {
  const AxisCall call{action, op_def(op.kind).name, static_cast<BlockAxis>(axis), time, sent};
  std::vector<QueuedSpan>& queued = queued_[axis];
  for (const QueuedSpan& span : queued) sent -= span.sent_bytes;
  if (queued.empty() || sent > 0) {
    axis_calls_.push_back(call);
    axis_calls_.back().sent_bytes = sent;
  }
  for (const QueuedSpan& span : queued) {
    axis_calls_.push_back(call);
    axis_calls_.back().time = {span.start_s, span.end_s};
    axis_calls_.back().sent_bytes = span.sent_bytes;
  }
  queued.clear();
}

void Engine::load(const Action& action, const BatchArrays& arrays) {
  CHECK(arrays.size() == program_.batch.size(), "{} batch arrays for {} fields", arrays.size(),
        program_.batch.size());
  for (size_t f = 0; f < arrays.size(); ++f) {
    const BatchField& field = program_.batch[f];
    device_.write(at({action.batch, field.offset}), arrays[f], bytes_of(field.type));
  }
}

void Engine::run(const Timeline& timeline, std::span<const BatchArrays> batches) {
  CHECK(batches.size() >= static_cast<size_t>(timeline.micro_batches), "{} needs {} micro-batches, got {}",
        timeline.name, timeline.micro_batches, batches.size());
  std::vector<Ticket> tickets(timeline.actions.size());  // of comm and p2p actions
  const bool timed = timing_ == Timing::on;
  for (size_t a = 0; a < axes_.size(); ++a) axes_[a].spans = timed ? &queued_[a] : nullptr;
  if (timed) times_.assign(timeline.actions.size(), {});
  axis_calls_.clear();
  for (size_t i = 0; i < timeline.actions.size(); ++i) {
    const Action& action = timeline.actions[i];
    for (const ActionId id : action.waits) {
      const Ticket& ticket = tickets[static_cast<size_t>(id.index)];
      queues_[ticket.queue]->wait(ticket.count);
    }
    start(action, i, batches, tickets[i]);
  }
  device_.synchronize();
  for (const Ticket& ticket : tickets)
    if (ticket.count > 0) queues_[ticket.queue]->wait(ticket.count);
}

// Compute runs here; the rest is handed to its queue.
void Engine::start(const Action& action, size_t index, std::span<const BatchArrays> batches, Ticket& ticket) {
  ActionTime* time = timing_ == Timing::on ? &times_[index] : nullptr;
  if (action.stream != Stream::compute) {
    ticket = submit(action, time);
    return;
  }
  if (time != nullptr) time->start_s = seconds_now();
  if (action.kind == ActionKind::load)
    load(action, batches[static_cast<size_t>(action.micro_batch)]);
  else
    run_action(action, index);
  if (time == nullptr) return;
  device_.synchronize();
  time->end_s = seconds_now();
}

// It starts once all compute before it is done.
Engine::Ticket Engine::submit(const Action& action, ActionTime* time) {
  device_.synchronize();
  const size_t queue = queue_of(action);
  const int64_t count = queues_[queue]->submit([this, &action, time] {
    if (time != nullptr) time->start_s = seconds_now();
    const Transfer& first = action.transfers[0];
    const BufferId buffer = first.op == CommOp::send ? first.from.buffer : first.to.buffer;
    const std::string what =
        fmt::format("{} of {}", name_of(action.kind), program_.buffer(buffer).name) +
        (action.micro_batch >= 0 ? fmt::format(", micro-batch {}", action.micro_batch) : "");
    for (const Transfer& t : action.transfers) transfer(t, what);
    if (time != nullptr) time->end_s = seconds_now();
  });
  return {queue, count};
}

void Engine::transfer(const Transfer& t, std::string_view what) const {
  if (!device_.host_addressable()) return;  // nothing is behind its addresses
  Communicator& ranks = *communicators_[static_cast<size_t>(t.comm.index)];
  const int64_t bytes = t.count * size_of(t.dtype);
  switch (t.op) {
    case CommOp::all_reduce:
      return ranks.all_reduce(at(t.to), t.count, t.dtype, what);
    case CommOp::reduce_scatter:
      return ranks.reduce_scatter(at(t.from), at(t.to), t.count, t.dtype, what);
    case CommOp::all_gather:
      return ranks.all_gather(at(t.from), at(t.to), bytes, what);
    case CommOp::send:
      return ranks.send(at(t.from), bytes, 1 - ranks.rank(), what);
    case CommOp::recv:
      return ranks.recv(at(t.to), bytes, 1 - ranks.rank(), what);
  }
}

double Engine::exposed_comm_s() const {
  double seconds = 0;
  for (const auto& queue : queues_) seconds += queue ? queue->waited_s() : 0;
  // Inside blocks a kernel waits where it calls, and for its queue where that is not done.
  for (const AxisComm& axis : axes_)
    if (axis.ranks != nullptr)
      seconds += axis.ranks->called_s() - axis.queue->worked_s() + axis.queue->waited_s();
  return seconds;
}

BufferId Engine::state_buffer(const ParamGroup& group, ParamState state) const {
  const BufferId buffer = state == ParamState::master    ? group.master
                          : state == ParamState::moment1 ? group.moment1
                                                         : group.moment2;
  CHECK(buffer.valid(), "{}: the program keeps no such state", group.name);
  return buffer;
}

std::vector<Engine::StatePlace> Engine::state_places(ParamId id, ParamState state) const {
  const Param& param = program_.params[static_cast<size_t>(id.index)];
  const ParamGroup& group = program_.groups[static_cast<size_t>(param.group.index)];
  if (group.shard_elements == 0) return {};
  const BufferId buffer = state_buffer(group, state);
  std::vector<StatePlace> places;
  for (const ElementRun& run : runs_of(param.cut, param.shape)) {
    const int64_t start = param.offset + run.own;  // in the group's flat buffer
    const int64_t begin = std::max(start, group.shard_begin);
    const int64_t end = std::min(start + run.count, group.shard_begin + group.shard_elements);
    if (begin < end)
      places.push_back({{buffer, (begin - group.shard_begin) * size_of(DType::f32)},
                        run.whole + begin - start,
                        end - begin});
  }
  return places;
}

void Engine::write_state(ParamId param, ParamState state, std::span<const float> values) {
  for (const StatePlace& place : state_places(param, state))
    device_.write(at(place.location), values.data() + place.first, place.count * size_of(DType::f32));
}

void Engine::read_state(ParamId param, ParamState state, std::span<float> values) const {
  for (const StatePlace& place : state_places(param, state))
    device_.read(values.data() + place.first, at(place.location), place.count * size_of(DType::f32));
}

std::vector<StatePiece> Engine::state_pieces(ParamId param, ParamState state) const {
  if (!host_addressable()) return {};
  std::vector<StatePiece> pieces;
  for (const StatePlace& place : state_places(param, state))
    pieces.push_back(
        {place.first, {reinterpret_cast<float*>(at(place.location)), static_cast<size_t>(place.count)}});
  return pieces;
}

std::span<float> Engine::shard(GroupId id, ParamState state) const {
  const ParamGroup& group = program_.groups[static_cast<size_t>(id.index)];
  if (!host_addressable() || group.shard_elements == 0) return {};
  return {reinterpret_cast<float*>(at({state_buffer(group, state), 0})),
          static_cast<size_t>(group.shard_elements)};
}

std::span<std::byte> Engine::staging() const {
  if (!host_addressable() || !program_.staging.valid()) return {};
  return {at({program_.staging, 0}), static_cast<size_t>(program_.buffer(program_.staging).bytes)};
}

void Engine::write_buffer(BufferId buffer, const void* from, int64_t bytes) {
  CHECK(bytes <= program_.buffer(buffer).bytes, "{} holds fewer bytes", program_.buffer(buffer).name);
  device_.write(at({buffer, 0}), from, bytes);
}

void Engine::read_buffer(BufferId buffer, void* to, int64_t bytes) const {
  CHECK(bytes <= program_.buffer(buffer).bytes, "{} holds fewer bytes", program_.buffer(buffer).name);
  device_.read(to, at({buffer, 0}), bytes);
}

}  // namespace trireme
