// Units, buffers and actions, as timeline_builder.h says.
#include "lower/timeline_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lower/buffers.h"
#include "lower/code_layout.h"

namespace trireme {

TimelineBuilder::TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                                 const CommIds& comms, const Sharding& sharding, DType compute)
    : program_(program),
      groups_(groups),
      chain_(&chain),
      comms_(comms),
      sharding_(sharding),
      compute_(compute),
      copies_(groups.size()),
      packed_(chain.size()),
      units_(chain.size()) {}

void TimelineBuilder::start(std::string name, int32_t micro_batches) {
  timeline_ = static_cast<int32_t>(program_.timelines.size());
  program_.timelines.push_back({std::move(name), micro_batches, {}});
  units_.assign(chain_->size(), {});
  micro_batches_.assign(static_cast<size_t>(micro_batches), {});
}

void TimelineBuilder::use_chain(const Chain& chain) {
  CHECK(chain.size() == chain_->size(), "{} blocks for {}", chain.size(), chain_->size());
  chain_ = &chain;
}

BufferId TimelineBuilder::buffer(const std::string& name, BufferClass cls, int64_t bytes) {
  return add_buffer(program_, name, cls, bytes, timeline_);
}

// --- units ------------------------------------------------------------------------------------------------

// The block's code with the weights, packed forms and accumulators of now: a new unit only where one of them
// has moved.
UnitId TimelineBuilder::unit_of(size_t b) {
  const ChainBlock& block = (*chain_)[b];
  const Code& code = program_.code(block.code);
  Unit unit{block.name, block.code, {}};
  unit.bound.resize(code.values.size());
  size_t slot = 0;
  for (size_t v = 0; v < code.values.size(); ++v) {
    const Value& value = code.values[v];
    if (value.role == ValueRole::param) unit.bound[v] = param_location(block.params[slot++]);
    if (value.role != ValueRole::state) continue;
    const auto [it, fresh] = caches_.try_emplace(block.name + "/" + value.name);
    if (fresh) it->second = {add_buffer(program_, it->first, BufferClass::cache, bytes_of(value.type)), 0};
    unit.bound[v] = it->second;
  }
  bind_gradients(block, unit);
  for (const Op& op : code.prepare)
    for (size_t o = 0; packed_[b] && o < op.outputs.size(); ++o)
      unit.bound[static_cast<size_t>(op.outputs[o].index)] = prepared_location(block, op, o);
  if (units_[b].valid() && program_.unit(units_[b]) == unit) return units_[b];
  units_[b] = UnitId(static_cast<int64_t>(program_.units.size()));
  program_.units.push_back(std::move(unit));
  return units_[b];
}

UnitId TimelineBuilder::add_unit(std::string name, Code code,
                                 const std::vector<std::pair<std::string, Location>>& bound) {
  const auto [it, fresh] = group_codes_.try_emplace(code.name);
  if (fresh) {
    it->second = CodeId(static_cast<int64_t>(program_.codes.size()));
    program_.layouts.push_back(lay_out(code, program_.batch, program_.threads));
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
  mb.saved.resize(chain_->size());
  mb.activations.resize(chain_->size());
  mb.gradients.resize(chain_->size());
  add_action(ActionKind::load, UnitId(), m).batch = mb.batch;
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
  const int64_t bytes = bytes_of(output.type);
  if (!program_.result.valid()) program_.result = add_buffer(program_, "result", BufferClass::scalar, bytes);
  if (output.type.dtype != DType::f64) return {{program_.result, 0}};
  if (m == 0)
    losses_ = buffer("losses", BufferClass::scalar, bytes * static_cast<int64_t>(micro_batches_.size()));
  return {{losses_, m * bytes}};
}

void TimelineBuilder::add_block_action(ActionKind kind, size_t b, int32_t m) {
  Action& action = add_action(kind, unit_of(b), m);
  if (m < 0) return;
  MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
  action.batch = mb.batch;
  action.saved = mb.saved[b];
  if (b > 0) action.inputs = mb.activations[b - 1];
  action.outputs = mb.activations[b];
  if (kind == ActionKind::forward) return;
  if (b > 0) action.input_grads = mb.gradients[b - 1];
  action.output_grads = mb.gradients[b];
}

void TimelineBuilder::forward(int32_t m) {
  load(m);
  for (size_t b = 0; b < chain_->size(); ++b) run_forward(b, m);
}

void TimelineBuilder::run_forward(size_t b, int32_t m) {
  const ChainBlock& block = (*chain_)[b];
  const CodeLayout& layout = program_.layouts[static_cast<size_t>(block.code.index)];
  const std::string tag = fmt::format("{}.{}", block.name, m);
  MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
  if (layout.saved_bytes > 0) mb.saved[b] = buffer(tag + "/saved", BufferClass::saved, layout.saved_bytes);
  mb.activations[b] =
      b + 1 == chain_->size() ? result(m) : boundary(tag + "/output", block.code, ValueRole::output);
  add_block_action(ActionKind::forward, b, m);
}

void TimelineBuilder::run_backward(size_t b, int32_t m) {
  const ChainBlock& block = (*chain_)[b];
  if (b > 0)
    micro_batches_[static_cast<size_t>(m)].gradients[b - 1] =
        boundary(fmt::format("{}.{}/input_grad", block.name, m), block.code, ValueRole::input_grad);
  add_block_action(ActionKind::backward, b, m);
}

void TimelineBuilder::run(const std::vector<ScheduleStep>& rows) {
  const std::vector<BlockStep> steps = block_steps(program_, *chain_, rows);
  const std::vector<std::vector<size_t>> fetches =
      sharded() ? plan_fetches(steps, sharding_) : std::vector<std::vector<size_t>>(steps.size());
  const auto start_fetches = [&](size_t i) {
    for (const size_t g : fetches[i]) start_fetch(g);
  };
  CHECK(!steps.empty(), "nothing to run");
  start_fetches(0);
  for (size_t i = 0; i < steps.size(); ++i) {
    const BlockStep& step = steps[i];
    join_due(i);
    start_lane(steps, i);
    if (step.kind == ActionKind::forward && step.block == 0) load(step.micro_batch);
    for (const size_t g : step.reads) finish_fetch(g);
    if (step.packs && !packed_[step.block]) prepare(step.block);
    if (i + 1 < steps.size()) start_fetches(i + 1);
    before_adds(step, i);
    if (step.kind == ActionKind::forward)
      run_forward(step.block, step.micro_batch);
    else
      run_backward(step.block, step.micro_batch);
    after_adds(step, i);
  }
}

// The next compute action waits for what this step is to find done.
void TimelineBuilder::join_due(size_t step) {
  for (const Join& join : joins_)
    if (join.due <= step) waits_.push_back(join.action);
  std::erase_if(joins_, [&](const Join& join) { return join.due <= step; });
}

}  // namespace trireme
