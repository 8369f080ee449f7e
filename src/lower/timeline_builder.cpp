// Units, buffers and actions, as timeline_builder.h says.
#include "lower/timeline_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lower/buffers.h"
#include "lower/code_layout.h"

namespace trireme {

namespace {

// Weights that are fetched for each micro-batch make a unit of each.
size_t hash_of(const std::vector<Location>& bound) {
  size_t hash = 0;
  for (const Location& at : bound)
    hash = hash * 0x9e3779b97f4a7c15u + static_cast<size_t>(at.buffer.index) * 31 +
           static_cast<size_t>(at.offset);
  return hash;
}

}  // namespace

TimelineBuilder::TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                                 const RankPlan& plan)
    : program_(program),
      groups_(groups),
      chain_(&chain),
      plan_(plan),
      copies_(groups.size()),
      packed_(chain.size()),
      units_(chain.size()),
      slot_of_(groups.size()) {}

void TimelineBuilder::start(std::string name, int32_t micro_batches) {
  timeline_ = static_cast<int32_t>(program_.timelines.size());
  program_.timelines.push_back({std::move(name), micro_batches, {}});
  units_.assign(chain_->size(), {});
  micro_batches_.assign(static_cast<size_t>(micro_batches), {});
  slots_ = gradient_slots(groups_, plan_.map, lanes());
  sums_.assign(slots_.size(), {});
  for (MicroBatch& mb : micro_batches_) {
    mb.saved.resize(chain_->size());
    mb.held.resize(chain_->size());
    mb.activations.resize(chain_->size());
    mb.gradients.resize(chain_->size());
  }
}

int64_t TimelineBuilder::lanes() const {
  return plan_.sharding.each_micro_batch ? static_cast<int64_t>(micro_batches_.size()) : plan_.sharding.lanes;
}

int64_t TimelineBuilder::micro_batches_per_lane() const {
  const auto micro_batches = static_cast<int64_t>(micro_batches_.size());
  CHECK(micro_batches % lanes() == 0, "{} micro-batches in {} lanes", micro_batches, lanes());
  return micro_batches / lanes();
}

void TimelineBuilder::use_chain(const Chain& chain) {
  CHECK(chain.size() == chain_->size(), "{} blocks for {}", chain.size(), chain_->size());
  chain_ = &chain;
}

BufferId TimelineBuilder::buffer(const std::string& name, BufferClass cls, int64_t bytes) {
  return add_buffer(program_, name, cls, bytes, timeline_);
}

// --- units ------------------------------------------------------------------------------------------------

// The block's code with the weights and packed forms of now, and the lane's accumulators: a new unit only
// where there is none like it.
UnitId TimelineBuilder::unit_of(size_t b, int64_t lane) {
  const ChainBlock& block = (*chain_)[b];
  const Code& code = program_.code(block.code);
  Unit unit{block.name, block.code, {}};
  unit.bound.resize(code.values.size());
  size_t slot = 0;
  for (size_t v = 0; v < code.values.size(); ++v) {
    const Value& value = code.values[v];
    if (value.role == ValueRole::param)
      unit.bound[v] = param_location(block.params[slot++], value.type.dtype);
    if (value.role != ValueRole::state) continue;
    const auto [it, fresh] = caches_.try_emplace(block.name + "/" + value.name);
    if (fresh) it->second = {add_buffer(program_, it->first, BufferClass::cache, bytes_of(value.type)), 0};
    unit.bound[v] = it->second;
  }
  bind_gradients(b, lane, unit);
  for (const Op& op : code.prepare)
    for (size_t o = 0; packed_[b] && o < op.outputs.size(); ++o)
      unit.bound[static_cast<size_t>(op.outputs[o].index)] = prepared_location(block, op, o);
  const size_t key = hash_of(unit.bound);
  const auto [first, last] = units_[b].equal_range(key);
  for (auto known = first; known != last; ++known)
    if (program_.unit(known->second) == unit) return known->second;
  const auto id = UnitId(static_cast<int64_t>(program_.units.size()));
  units_[b].emplace(key, id);
  program_.units.push_back(std::move(unit));
  return id;
}

UnitId TimelineBuilder::add_unit(std::string name, Code code,
                                 const std::vector<std::pair<std::string, Location>>& bound) {
  const auto [it, fresh] = group_codes_.try_emplace(code.name);
  if (fresh) {
    it->second = CodeId(static_cast<int64_t>(program_.codes.size()));
    program_.layouts.push_back(lay_out(code, program_.batch, program_.threads, BackwardForm::whole));
    program_.codes.push_back(std::move(code));
  }
  Unit unit{std::move(name), it->second, {}};
  const std::vector<Value>& values = program_.code(it->second).values;
  for (const Value& value : values) {
    const auto location =
        std::find_if(bound.begin(), bound.end(), [&](const auto& b) { return b.first == value.name; });
    CHECK(location != bound.end(), "{}: {} is not bound", unit.name, value.name);
    unit.bound.push_back(location->second);
  }
  program_.units.push_back(std::move(unit));
  return UnitId(static_cast<int64_t>(program_.units.size()) - 1);
}

// --- actions ----------------------------------------------------------------------------------------------

Action& TimelineBuilder::add_action(ActionKind kind, UnitId unit, int32_t micro_batch) {
  Action action;
  action.kind = kind;
  action.unit = unit;
  action.micro_batch = micro_batch;
  action.waits = std::exchange(waits_, {});
  if (unit.valid()) {
    const CodeLayout& layout = program_.layouts[static_cast<size_t>(program_.unit(unit).code.index)];
    const int64_t work = layout.workspace_bytes[static_cast<size_t>(section_of(kind))];
    const std::string name = fmt::format("{}.{}/{}", program_.unit(unit).name, micro_batch, name_of(kind));
    if (work > 0) action.workspace = buffer(name, BufferClass::workspace, work);
  }
  std::vector<Action>& actions = program_.timelines[static_cast<size_t>(timeline_)].actions;
  actions.push_back(std::move(action));
  return actions.back();
}

ActionId TimelineBuilder::add_comm(ActionKind kind, std::vector<Transfer> transfers) {
  Action action;
  action.kind = kind;
  action.stream = Stream::comm;
  action.transfers = std::move(transfers);
  std::vector<Action>& actions = program_.timelines[static_cast<size_t>(timeline_)].actions;
  actions.push_back(std::move(action));
  return ActionId(static_cast<int64_t>(actions.size()) - 1);
}

void TimelineBuilder::load(int32_t m) {
  MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
  mb.batch = buffer(fmt::format("batch.{}", m), BufferClass::batch, program_.batch_bytes);
  add_action(ActionKind::load, UnitId(), m).batch = mb.batch;
}

BufferId TimelineBuilder::zeroed(const std::string& name, BufferClass cls, int64_t bytes) {
  const BufferId id = buffer(name, cls, bytes);
  add_action(ActionKind::zero,
             add_unit(name + "/zero", zero_code(bytes / size_of(DType::f32)), {{"grad", {id, 0}}}), -1);
  return id;
}

std::vector<Location> TimelineBuilder::boundary(const std::string& name, CodeId code, ValueRole role) {
  std::vector<Location> locations;
  const auto cls = BufferClass::activation;
  for (const ValueId id : values_with(program_.code(code).values, role))
    locations.push_back({buffer(name, cls, bytes_of(program_.code(code).value(id).type)), 0});
  return locations;
}

// The last block's output is what the timeline is run for: its losses, a row per micro-batch, or its logits.
std::vector<Location> TimelineBuilder::result(int32_t m) {
  const Code& code = program_.code(chain_->back().code);
  const Value& output = code.value(values_with(code.values, ValueRole::output).at(0));
  if (output.type.dtype == DType::f64) return {{losses_, m * bytes_of(output.type)}};
  if (!program_.result.valid())
    program_.result = add_buffer(program_, "result", BufferClass::scalar, bytes_of(output.type));
  return {{program_.result, 0}};
}

void TimelineBuilder::add_block_action(ActionKind kind, size_t b, int32_t m) {
  if (m < 0) {
    add_action(kind, unit_of(b, -1), m);
    return;
  }
  MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
  const auto await = [&](Move::Kind what, size_t boundary) {
    const auto arriving = mb.arriving.extract({what, boundary});
    if (arriving) waits_.insert(waits_.end(), arriving.mapped().begin(), arriving.mapped().end());
  };
  if (b > 0) await(Move::Kind::output, b - 1);
  if (kind != ActionKind::forward) await(Move::Kind::gradient, b);
  Action& action = add_action(kind, unit_of(b, m / micro_batches_per_lane()), m);
  action.batch = mb.batch;
  action.saved = mb.saved[b];
  action.held = mb.held[b];
  if (b > 0) action.inputs = mb.activations[b - 1];
  action.outputs = mb.activations[b];
  if (kind == ActionKind::forward) return;
  if (b > 0) action.input_grads = mb.gradients[b - 1];
  action.output_grads = mb.gradients[b];
}

void TimelineBuilder::forward(int32_t m) {
  for (size_t b = 0; b < chain_->size(); ++b) run_block(ActionKind::forward, b, m);
}

// What a forward makes lives on; what a way back makes is for the block before, or for the weight part.
void TimelineBuilder::run_block(ActionKind kind, size_t b, int32_t m) {
  const ChainBlock& block = (*chain_)[b];
  const CodeLayout& layout = program_.layouts[static_cast<size_t>(block.code.index)];
  const std::string tag = fmt::format("{}.{}", block.name, m);
  MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
  if (!mb.batch.valid()) load(m);
  if (kind == ActionKind::forward) {
    if (layout.saved_bytes > 0) mb.saved[b] = buffer(tag + "/saved", BufferClass::saved, layout.saved_bytes);
    mb.activations[b] =
        b + 1 == chain_->size() ? result(m) : boundary(tag + "/output", block.code, ValueRole::output);
  } else if (kind != ActionKind::backward_weight) {
    if (b > 0) mb.gradients[b - 1] = boundary(tag + "/input_grad", block.code, ValueRole::input_grad);
    if (layout.held_bytes > 0) mb.held[b] = buffer(tag + "/held", BufferClass::held, layout.held_bytes);
  }
  add_block_action(kind, b, m);
}

void TimelineBuilder::run(const Schedule& schedule) {
  const std::vector<ScheduleStep>& rows = schedule.table[static_cast<size_t>(plan_.map.rank)];
  const std::vector<BlockStep> steps =
      block_steps(program_, {*chain_, plan_.map, slots_, micro_batches_per_lane(), plan_.form}, rows);
  const std::vector<std::vector<size_t>> fetches =
      sharded() ? plan_fetches(steps, plan_.sharding) : std::vector<std::vector<size_t>>(steps.size());
  const Code& last = program_.code(chain_->back().code);
  const int64_t row_bytes = bytes_of(last.value(values_with(last.values, ValueRole::output).at(0)).type);
  if (!program_.result.valid())
    program_.result = add_buffer(program_, "result", BufferClass::scalar, row_bytes);
  const int64_t losses_bytes = row_bytes * static_cast<int64_t>(micro_batches_.size());
  losses_ = pipelined() ? zeroed("losses", BufferClass::scalar, losses_bytes)
                        : buffer("losses", BufferClass::scalar, losses_bytes);
  start_moves(schedule);
  fetched_ = 0;
  size_t i = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    take_due(sent_, row);
    ask(row);
    for (; i < steps.size() && steps[i].row == row; ++i) run_step(steps, fetches, i);
    send(row);
  }
  finish_moves();
}

void TimelineBuilder::run_step(const std::vector<BlockStep>& steps,
                               const std::vector<std::vector<size_t>>& fetches, size_t i) {
  const BlockStep& step = steps[i];
  const auto fetch_up_to = [&](size_t end) {
    for (; fetched_ < std::min(end, fetches.size()); ++fetched_)
      for (const size_t g : fetches[fetched_]) start_fetch(g);
  };
  take_due(joins_, i);
  fetch_up_to(i + 1);
  for (const size_t g : fetches[i]) finish_fetch(g);
  if (step.packs && !packed_[step.block]) prepare(step.block);
  fetch_up_to(i + 1 + static_cast<size_t>(plan_.sharding.prefetch));
  for (const Addition& addition : step.adds)
    if (addition.first) open_lane(addition);
  run_block(step.kind, step.block, step.micro_batch);
  for (const Addition& addition : step.adds)
    if (addition.last) close_lane(addition, i);
}

// The next compute action waits for what is to be done by now.
void TimelineBuilder::take_due(std::vector<Join>& joins, size_t now) {
  for (const Join& join : joins)
    if (join.due <= now) waits_.push_back(join.action);
  std::erase_if(joins, [&](const Join& join) { return join.due <= now; });
}

}  // namespace trireme
