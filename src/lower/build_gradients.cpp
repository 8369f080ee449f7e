// Gradients of a timeline. Each lane of a slot has an accumulator of its own, from its first addition to its
// last; then neighbouring lanes are added, and their sums, as in a binary tree, whatever order they end in.
// The communicator goes on with the same tree over ranks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lower/timeline_builder.h"

namespace trireme {
namespace {

// A reduce is waited for once the step after it is over: it has that one to hide behind.
constexpr size_t kStepsToJoin = 2;

}  // namespace

void TimelineBuilder::bind_gradients(size_t b, int64_t lane, Unit& unit) const {
  const ChainBlock& block = (*chain_)[b];
  const Code& code = program_.code(block.code);
  const std::vector<ValueId> params = values_with(code.values, ValueRole::param);
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string name = code.value(params[i]).name + ".grad";
    for (const ValueId grad : values_with(code.values, ValueRole::param_grad)) {
      if (code.value(grad).name != name) continue;
      const Param& param = program_.params[static_cast<size_t>(block.params[i].index)];
      const size_t s = slot_at(slots_, static_cast<size_t>(param.group.index), b);
      const auto open = sums_[s].open.find(lane);
      if (open != sums_[s].open.end())
        unit.bound[static_cast<size_t>(grad.index)] = {open->second, param.offset * size_of(DType::f32)};
    }
  }
}

void TimelineBuilder::open_lane(const Addition& addition) {
  const GradientSlot& slot = slots_[addition.slot];
  std::string name = group(slot.group).name + "/gradient";
  if (groups_[slot.group].uses.size() > 1) name += "/" + (*chain_)[slot.block].name;
  if (slot.lanes > 1) name += fmt::format(".{}", addition.lane);
  sums_[addition.slot].open[addition.lane] =
      zeroed(name, BufferClass::gradient, group(slot.group).elements * size_of(DType::f32));
}

void TimelineBuilder::close_lane(const Addition& addition, size_t step) {
  const GradientSlot& slot = slots_[addition.slot];
  Sums& sums = sums_[addition.slot];
  BufferId sum = sums.open.extract(addition.lane).mapped();
  if (plan_.sharding.each_micro_batch) {
    add_pending(addition.slot);
    sums.pending = reduce(addition.slot, sum, step);
    return;
  }
  int64_t first = addition.lane - slot.first_lane, lanes = 1;
  while (lanes < slot.lanes) {
    const auto sibling = sums.done.find(first ^ lanes);
    if (sibling == sums.done.end() || sibling->second.first != lanes) break;
    const BufferId other = sibling->second.second;
    const bool second = sibling->first < first;
    const BufferId earlier = second ? other : sum, later = second ? sum : other;
    add_up("combine", ActionKind::combine_lanes, slot.group, {earlier, 0}, {later, 0},
           group(slot.group).elements);
    first = std::min(first, sibling->first);
    sum = earlier;
    sums.done.erase(sibling);
    lanes *= 2;
  }
  sums.done[first] = {lanes, sum};
  if (lanes == slot.lanes && slot.other_copy < 0) sums.whole = reduce(addition.slot, sum, step);
}

// What `later` has is added to what `earlier` has.
void TimelineBuilder::add_up(const char* what, ActionKind kind, size_t g, const Location& earlier,
                             const Location& later, int64_t elements) {
  add_action(kind,
             add_unit(fmt::format("{}/{}", group(g).name, what), combine_code(elements),
                      {{"earlier", earlier}, {"later", later}}),
             -1);
}

// The sums over the ranks of tp, each of which has worked on a part of the rows or heads.
std::vector<Transfer> TimelineBuilder::tp_sums(size_t g, BufferId gradient) const {
  std::vector<Transfer> transfers;
  for (const FlatRange& range : groups_[g].tp_addends)
    transfers.push_back(
        all_reduce(plan_.comms.tp, {gradient, range.begin * size_of(DType::f32)}, range.end - range.begin));
  return transfers;
}

// The sum of a whole gradient over data-parallel ranks, or this rank's shard of it.
TimelineBuilder::Reduced TimelineBuilder::reduce(size_t s, BufferId gradient, size_t step) {
  const ParamGroup& group = this->group(slots_[s].group);
  const Location whole{gradient, 0};
  const size_t g = slots_[s].group;
  const CommIds::DataParallel& comms = plan_.comms.of(groups_[g].domain);
  std::vector<Transfer> transfers = tp_sums(g, gradient);
  if (!is_cut(g)) {
    if (comms.all.valid()) transfers.push_back(all_reduce(comms.all, whole, group.elements));
    if (transfers.empty()) return {whole, {}};
    return {whole, add_comm(ActionKind::reduce_grad, std::move(transfers))};
  }
  const int64_t n = group.shard_elements;
  Location shard{gradient, group.shard_begin * size_of(DType::f32)};
  if (plan_.sharding.zero >= 2)
    shard = {
        buffer(program_.buffer(gradient).name + "_shard", BufferClass::gradient, n * size_of(DType::f32)), 0};
  transfers.push_back(
      {.op = CommOp::reduce_scatter, .comm = comms.shard, .from = whole, .to = shard, .count = n});
  if (comms.replicate.valid()) transfers.push_back(all_reduce(comms.replicate, shard, n));
  const ActionId ready = add_comm(ActionKind::reduce_grad, std::move(transfers));
  if (plan_.sharding.zero >= 2) joins_.push_back({ready, step + kStepsToJoin});
  return {shard, ready};
}

// Where each micro-batch is reduced by itself: its shard is added to those before it once the next one's is
// on its way.
void TimelineBuilder::add_pending(size_t s) {
  Sums& sums = sums_[s];
  if (!sums.pending.at.buffer.valid()) return;
  const Reduced pending = std::exchange(sums.pending, {});
  if (!sums.whole.at.buffer.valid()) {
    sums.whole = pending;
    return;
  }
  for (const ActionId id : {std::exchange(sums.whole.ready, {}), pending.ready})
    if (id.valid()) waits_.push_back(id);
  add_up("micro_batches", ActionKind::combine_lanes, slots_[s].group, sums.whole.at, pending.at,
         group(slots_[s].group).shard_elements);
}

// The halves that two copies of a stage have summed are added up, before their sum over data-parallel ranks
// or, where every micro-batch went over those, after it.
void TimelineBuilder::add_copies(size_t s) {
  Sums& sums = sums_[s];
  const bool each = plan_.sharding.each_micro_batch;
  const ParamGroup& group = this->group(slots_[s].group);
  const Location half = each ? sums.whole.at : Location{sums.done.begin()->second.second, 0};
  const ActionId halves =
      add_comm(ActionKind::reduce_grad, {all_reduce(plan_.comms.copies.at(slots_[s].other_copy), half,
                                                    each ? group.shard_elements : group.elements)});
  if (!each) sums.whole = reduce(s, half.buffer, 0);
  if (each || !sums.whole.ready.valid()) sums.whole.ready = halves;
}

// What has to wait until all micro-batches are through. All ranks go through the slots in the same order.
void TimelineBuilder::finish_gradients() {
  for (size_t s = 0; s < slots_.size(); ++s) {
    add_pending(s);
    if (slots_[s].other_copy >= 0) add_copies(s);
  }
  for (size_t s = slots_.size(); s-- > 0;) slot_of_[slots_[s].group] = s;  // the first use
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].held && groups_[g].uses.size() > 1) add_uses(g);
}

// The last use is added to the one before it, and so on to the first; where the first is another rank's, the
// last sum is made with that one. Stages are cut so that all uses but the first are one rank's (compile.cpp).
void TimelineBuilder::add_uses(size_t g) {
  const std::vector<size_t>& uses = groups_[g].uses;
  const int64_t n = group(g).shard_elements;
  const size_t first = slot_of_[g];
  size_t end = first;
  while (end < slots_.size() && slots_[end].group == g) ++end;
  CHECK(end - first == uses.size() || end - first == 1 || slots_[first].block != uses[0],
        "uses of {} lie on too many ranks", group(g).name);
  for (size_t s = end - 1; s > first; --s) {
    for (const size_t summed : {s - 1, s})
      if (const ActionId ready = std::exchange(sums_[summed].whole.ready, {}); ready.valid())
        waits_.push_back(ready);
    add_up("uses", ActionKind::combine_uses, g, sums_[s - 1].whole.at, sums_[s].whole.at, n);
  }
  if (end - first == uses.size()) return;
  const size_t other = slots_[first].block == uses[0] ? uses[1] : uses[0];
  int32_t peer = -1;
  for (int32_t d = 0; d < plan_.map.placement.directions(); ++d)
    if (rank_of_block(plan_.map, slots_[first].block, d) == plan_.map.rank)
      peer = rank_of_block(plan_.map, other, d);
  Reduced& sum = sums_[first].whole;
  sum.ready = add_comm(ActionKind::reduce_grad, {all_reduce(plan_.comms.uses.at(peer), sum.at, n)});
}

}  // namespace trireme
