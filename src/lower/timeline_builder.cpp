// Units, buffers and actions, as timeline_builder.h says.
#include "lower/timeline_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ir/print.h"
#include "lower/buffers.h"
#include "lower/code_layout.h"

namespace trireme {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id.index); }

// What makes a prepared value, whatever its name: "pack(w) {use=\"forward\"}".
std::string recipe(const Code& code, const Op& op) {
  const std::string text = op_text(op, code.values);
  return text.substr(text.find(" = ") + 3);
}

}  // namespace

TimelineBuilder::TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                                 DType compute)
    : program_(program), groups_(groups), chain_(&chain), compute_(compute), copies_(groups.size()) {}

void TimelineBuilder::start(std::string name, int32_t micro_batches) {
  timeline_ = static_cast<int32_t>(program_.timelines.size());
  program_.timelines.push_back({std::move(name), micro_batches, {}});
  units_.clear();
  micro_batches_.assign(static_cast<size_t>(micro_batches), {});
}

BufferId TimelineBuilder::buffer(const std::string& name, BufferClass cls, int64_t bytes) {
  return add_buffer(program_, name, cls, bytes, timeline_);
}

// --- weights and gradients --------------------------------------------------------------------------------

void TimelineBuilder::place_weights(Life life) {
  weights_life_ = life == Life::lasting ? kLasting : timeline_;
  for (size_t g = 0; g < copies_.size(); ++g) {
    const int64_t resident = groups_[g].resident_elements, all = group(g).elements;
    if (compute_ == DType::f32) {  // the master weights serve
      copies_[g].resident = {group(g).master, 0};
      copies_[g].transient = {group(g).master, resident * size_of(DType::f32)};
      continue;
    }
    const auto add = [&](const char* part, int64_t elements) -> Location {
      if (elements == 0) return {};
      return {add_buffer(program_, fmt::format("{}/{}", group(g).name, part), BufferClass::compute,
                         elements * size_of(compute_), weights_life_),
              0};
    };
    copies_[g].resident = add("resident", resident);
    copies_[g].transient = add("transient", all - resident);
  }
}

void TimelineBuilder::place_gradients() {
  for (size_t g = 0; g < copies_.size(); ++g)
    copies_[g].gradient = buffer(group(g).name + "/gradient", BufferClass::gradient, group(g).elements * 4);
}

Location TimelineBuilder::param_location(ParamId id) const {
  const Param& param = program_.params[static_cast<size_t>(id.index)];
  const auto g = static_cast<size_t>(param.group.index);
  const int64_t resident = groups_[g].resident_elements;
  const bool direct = param.offset < resident;
  Location location = direct ? copies_[g].resident : copies_[g].transient;
  location.offset += (direct ? param.offset : param.offset - resident) * size_of(compute_);
  return location;
}

Location TimelineBuilder::prepared_location(const ChainBlock& block, const Op& op, size_t output) {
  const Code& code = program_.code(block.code);
  const std::vector<ValueId> slots = values_with(code.values, ValueRole::param);
  const auto slot = std::find(slots.begin(), slots.end(), op.inputs[0]);
  CHECK(slot != slots.end(), "{}: a prepared value is not made from a parameter", code.name);
  const ParamId param = block.params[static_cast<size_t>(slot - slots.begin())];
  const auto [it, fresh] = prepared_.try_emplace({param, recipe(code, op)});
  if (fresh) {
    const Value& value = code.value(op.outputs[output]);
    it->second = {add_buffer(program_, block.name + "/" + value.name, BufferClass::prepared,
                             bytes_of(value.type), weights_life_),
                  0};
  }
  return it->second;
}

// --- units ------------------------------------------------------------------------------------------------

Unit TimelineBuilder::bind(const ChainBlock& block) {
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
  return unit;
}

void TimelineBuilder::bind_gradients(const ChainBlock& block, Unit& unit) {
  const Code& code = program_.code(block.code);
  const std::vector<ValueId> slots = values_with(code.values, ValueRole::param);
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::string name = code.value(slots[i]).name + ".grad";
    for (const ValueId grad : values_with(code.values, ValueRole::param_grad)) {
      if (code.value(grad).name != name) continue;
      const Param& param = program_.params[static_cast<size_t>(block.params[i].index)];
      unit.bound[at(grad)] = {copies_[static_cast<size_t>(param.group.index)].gradient, param.offset * 4};
    }
  }
}

void TimelineBuilder::bind_blocks() {
  for (const ChainBlock& block : *chain_) {
    Unit unit = bind(block);
    bind_gradients(block, unit);
    for (const Op& op : program_.code(block.code).prepare)
      for (size_t o = 0; o < op.outputs.size(); ++o)
        unit.bound[at(op.outputs[o])] = prepared_location(block, op, o);
    units_.push_back(UnitId(static_cast<int64_t>(program_.units.size())));
    program_.units.push_back(std::move(unit));
  }
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

void TimelineBuilder::unshard_and_prepare() {
  for (size_t g = 0; g < copies_.size() && compute_ != DType::f32; ++g) {
    const int64_t resident = groups_[g].resident_elements;
    const UnitId unit =
        add_unit(group(g).name + "/unshard", unshard_code(group(g).elements, resident, compute_),
                 {{"master_resident", {group(g).master, 0}},
                  {"resident", copies_[g].resident},
                  {"master_transient", {group(g).master, resident * 4}},
                  {"transient", copies_[g].transient}});
    add_action(ActionKind::unshard, unit, -1);
    prepare_blocks_of(GroupId(static_cast<int64_t>(g)));
  }
  if (compute_ == DType::f32)
    for (size_t g = 0; g < copies_.size(); ++g) prepare_blocks_of(GroupId(static_cast<int64_t>(g)));
}

// A block prepares as soon as the last of its groups is there, so that a transient copy dies early.
void TimelineBuilder::prepare_blocks_of(GroupId last) {
  for (size_t b = 0; b < chain_->size(); ++b) {
    const ChainBlock& block = (*chain_)[b];
    if (program_.code(block.code).prepare.empty()) continue;
    GroupId latest(0);
    for (const ParamId id : block.params)
      latest = std::max(latest, program_.params[static_cast<size_t>(id.index)].group);
    if (latest == last) add_block_action(ActionKind::prepare, b, -1);
  }
}

void TimelineBuilder::zero_gradients() {
  for (size_t g = 0; g < copies_.size(); ++g)
    add_action(
        ActionKind::zero,
        add_unit(group(g).name + "/zero", zero_code(group(g).elements), {{"grad", {copies_[g].gradient, 0}}}),
        -1);
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
  Action& action = add_action(kind, units_[b], m);
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
  for (size_t b = 0; b < chain_->size(); ++b) {
    const ChainBlock& block = (*chain_)[b];
    const CodeLayout& layout = program_.layouts[static_cast<size_t>(block.code.index)];
    const std::string tag = fmt::format("{}.{}", block.name, m);
    MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
    if (layout.saved_bytes > 0) mb.saved[b] = buffer(tag + "/saved", BufferClass::saved, layout.saved_bytes);
    mb.activations[b] =
        b + 1 == chain_->size() ? result(m) : boundary(tag + "/output", block.code, ValueRole::output);
    add_block_action(ActionKind::forward, b, m);
  }
}

void TimelineBuilder::backward(int32_t m) {
  for (size_t b = chain_->size(); b-- > 0;) {
    const ChainBlock& block = (*chain_)[b];
    MicroBatch& mb = micro_batches_[static_cast<size_t>(m)];
    if (b > 0)
      mb.gradients[b - 1] =
          boundary(fmt::format("{}.{}/input_grad", block.name, m), block.code, ValueRole::input_grad);
    add_block_action(ActionKind::backward, b, m);
  }
}

void TimelineBuilder::loss() {
  const UnitId unit = add_unit("loss", loss_code(static_cast<int64_t>(micro_batches_.size())),
                               {{"losses", {losses_, 0}}, {"result", {program_.result, 0}}});
  add_action(ActionKind::loss, unit, -1);
}

void TimelineBuilder::update(const UpdateRule& rule) {
  int64_t partials = 0;
  for (size_t g = 0; g < copies_.size(); ++g) partials += group(g).elements / kParamAlignment;
  const BufferId partial = buffer("norm_partials", BufferClass::scalar, partials * size_of(DType::f64));
  int64_t offset = 0;
  for (size_t g = 0; g < copies_.size(); ++g) {
    const UnitId unit = add_unit(group(g).name + "/norm", norm_partial_code(group(g).elements),
                                 {{"grad", {copies_[g].gradient, 0}}, {"partial", {partial, offset}}});
    offset += group(g).elements / kParamAlignment * size_of(DType::f64);
    add_action(ActionKind::norm_partial, unit, -1);
  }
  const Location scalars{program_.scalars, 0};
  add_action(ActionKind::grad_norm,
             add_unit("grad_norm", grad_norm_code(partials, rule),
                      {{"partials", {partial, 0}}, {"scalars", scalars}}),
             -1);
  for (size_t g = 0; g < copies_.size(); ++g) {
    std::vector<std::pair<std::string, Location>> bound{{"scalars", scalars}};
    for (size_t i = 0; i < groups_[g].decay_ranges.size(); ++i) {
      const int64_t start = groups_[g].decay_ranges[i].begin * 4;
      bound.push_back({fmt::format("grad.{}", i), {copies_[g].gradient, start}});
      bound.push_back({fmt::format("master.{}", i), {group(g).master, start}});
      bound.push_back({fmt::format("moment1.{}", i), {group(g).moment1, start}});
      bound.push_back({fmt::format("moment2.{}", i), {group(g).moment2, start}});
    }
    add_action(ActionKind::optimizer,
               add_unit(group(g).name + "/optimizer", optimizer_code(groups_[g].decay_ranges, rule), bound),
               -1);
  }
}

}  // namespace trireme
