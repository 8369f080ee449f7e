// Weights of a timeline: whole ones cast up front; cut ones gathered from the ranks that share them, each
// time into buffers of their own, whose life ends with their last use.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "ir/print.h"
#include "lower/buffers.h"
#include "lower/timeline_builder.h"

namespace trireme {
namespace {

// What makes a prepared value, whatever its name: "pack(w) {use=\"forward\"}".
std::string recipe(const Code& code, const Op& op) {
  const std::string text = op_text(op, code.values);
  return text.substr(text.find(" = ") + 3);
}

}  // namespace

Location TimelineBuilder::param_location(ParamId id, DType dtype) const {
  const Param& param = program_.params[static_cast<size_t>(id.index)];
  const auto g = static_cast<size_t>(param.group.index);
  if (dtype != plan_.compute || groups_[g].domain == Domain::whole)
    return {group(g).master, param.offset * size_of(DType::f32)};
  const int64_t resident = groups_[g].resident_elements;
  const bool direct = param.offset < resident;
  Location location = direct ? copies_[g].resident : copies_[g].transient;
  if (!location.buffer.valid()) return {};  // nobody has needed it yet
  location.offset += (direct ? param.offset : param.offset - resident) * size_of(plan_.compute);
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

// --- whole weights ----------------------------------------------------------------------------------------

void TimelineBuilder::make_weights(Life life) {
  weights_life_ = life == Life::lasting ? kLasting : timeline_;
  for (size_t g = 0; g < copies_.size(); ++g) {
    if (!groups_[g].held || !groups_[g].copied) continue;
    const int64_t resident = groups_[g].resident_elements, all = group(g).elements;
    if (plan_.compute == DType::f32) {  // the master weights serve
      copies_[g].resident = {group(g).master, 0};
      copies_[g].transient = {group(g).master, resident * size_of(DType::f32)};
      continue;
    }
    const auto add = [&](const char* part, int64_t elements) -> Location {
      if (elements == 0) return {};
      return {add_buffer(program_, fmt::format("{}/{}", group(g).name, part), BufferClass::compute,
                         elements * size_of(plan_.compute), weights_life_),
              0};
    };
    copies_[g].resident = add("resident", resident);
    copies_[g].transient = add("transient", all - resident);
  }
  for (size_t g = 0; g < copies_.size(); ++g) {
    if (groups_[g].held && groups_[g].copied && plan_.compute != DType::f32) {
      const int64_t resident = groups_[g].resident_elements;
      const UnitId unit =
          add_unit(group(g).name + "/unshard", unshard_code(group(g).elements, resident, plan_.compute),
                   {{"master_resident", {group(g).master, 0}},
                    {"resident", copies_[g].resident},
                    {"master_transient", {group(g).master, resident * size_of(DType::f32)}},
                    {"transient", copies_[g].transient}});
      add_action(ActionKind::unshard, unit, -1);
    }
    prepare_blocks_of(GroupId(static_cast<int64_t>(g)));
  }
}

// A block prepares as soon as the last of its groups is there, so that a transient copy dies early.
void TimelineBuilder::prepare_blocks_of(GroupId last) {
  for (size_t b = 0; b < chain_->size(); ++b) {
    const ChainBlock& block = (*chain_)[b];
    if (!holds(plan_.map, b) || program_.code(block.code).prepare.empty()) continue;
    GroupId latest(0);
    for (const ParamId id : block.params)
      latest = std::max(latest, program_.params[static_cast<size_t>(id.index)].group);
    if (latest == last) prepare(b);
  }
}

void TimelineBuilder::prepare(size_t b) {
  packed_[b] = true;
  add_block_action(ActionKind::prepare, b, -1);
}

// --- cut weights ------------------------------------------------------------------------------------------

// This rank's shard into its place, then the others'.
void TimelineBuilder::start_fetch(size_t g) {
  const ParamGroup& group = this->group(g);
  if (!groups_[g].copied) return;
  weights_life_ = timeline_;
  if (!is_cut(g) && plan_.compute == DType::f32) {  // the master weights serve
    copies_[g].fetches.push_back({ActionId(), group.master});
    return;
  }
  const int64_t size = size_of(plan_.compute);
  const BufferId gathered = buffer(group.name + "/gathered", BufferClass::compute, group.elements * size);
  Location own{group.master, 0};  // f32 weights go out as they are
  if (plan_.compute != DType::f32) {
    own = {gathered, group.shard_begin * size};
    add_action(ActionKind::unshard,
               add_unit(group.name + "/unshard", cast_code(group.shard_elements, DType::f32, plan_.compute),
                        {{"from", {group.master, 0}}, {"to", own}}),
               -1);
  }
  ActionId gather;
  if (is_cut(g))
    gather = add_comm(ActionKind::gather_params, {{.op = CommOp::all_gather,
                                                   .comm = plan_.comms.of(groups_[g].domain).shard,
                                                   .from = own,
                                                   .to = {gathered, 0},
                                                   .count = group.shard_elements,
                                                   .dtype = plan_.compute}});
  copies_[g].fetches.push_back({gather, gathered});
}

// What follows waits for the gather; what was made from an earlier fetch no longer counts. Where a group has
// both kinds of parameters, the resident ones move out, so that the rest dies once it is packed.
void TimelineBuilder::finish_fetch(size_t g) {
  if (!groups_[g].copied) return;
  const GroupId id(static_cast<int64_t>(g));
  const auto in_group = [&](ParamId param) {
    return program_.params[static_cast<size_t>(param.index)].group == id;
  };
  std::erase_if(prepared_, [&](const auto& entry) { return in_group(entry.first.first); });
  for (size_t b = 0; b < chain_->size(); ++b) {
    const std::vector<ParamId>& params = (*chain_)[b].params;
    if (std::any_of(params.begin(), params.end(), in_group)) packed_[b] = false;
  }
  Copies& copies = copies_[g];
  const Fetch fetch = copies.fetches.front();
  copies.fetches.pop_front();
  if (fetch.gather.valid()) waits_.push_back(fetch.gather);
  const int64_t resident = groups_[g].resident_elements, size = size_of(plan_.compute);
  copies.resident = {fetch.gathered, 0};
  copies.transient = {fetch.gathered, resident * size};
  if (resident == 0 || resident == groups_[g].used_elements || fetch.gathered == group(g).master) return;
  copies.resident = {buffer(group(g).name + "/resident", BufferClass::compute, resident * size), 0};
  add_action(ActionKind::unshard,
             add_unit(group(g).name + "/resident", cast_code(resident, plan_.compute, plan_.compute),
                      {{"from", {fetch.gathered, 0}}, {"to", copies.resident}}),
             -1);
}

}  // namespace trireme
