// The end of a step: the loss of all ranks, the norm of the whole gradient, the update of this rank's shard.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lower/timeline_builder.h"

namespace trireme {

// A step's losses are summed over all its micro-batches as on one rank: ranks without the last stage bring
// zeros, and x + 0 is x.
void TimelineBuilder::loss() {
  const int64_t rows = static_cast<int64_t>(micro_batches_.size());
  const Location result{program_.result, 0}, losses{losses_, 0};
  if (pipelined())
    waits_.push_back(
        add_comm(ActionKind::gather_losses, {all_reduce(plan_.comms.pp, losses, rows * 2, DType::f64)}));
  add_action(
      ActionKind::loss,
      add_unit("loss", loss_code(rows, plan_.sharding.lanes), {{"losses", losses}, {"result", result}}), -1);
  const CommId ranks = plan_.comms.of(Domain::dense).all;
  if (ranks.valid()) add_comm(ActionKind::reduce_loss, {all_reduce(ranks, result, 2, DType::f64)});
}

BufferId TimelineBuilder::sums_buffer(const char* name, int64_t sums, Summed summed) {
  const int64_t bytes = sums * size_of(DType::f64);
  return summed == Summed::over_ranks ? zeroed(name, BufferClass::scalar, bytes)
                                      : buffer(name, BufferClass::scalar, bytes);
}

// The ranks of the group fill in different parts, and x + 0 is x; or they have addends.
void TimelineBuilder::gather_sums(CommId comm, const Location& sums, int64_t count) {
  if (comm.valid() && count > 0)
    waits_.push_back(add_comm(ActionKind::gather_norm, {all_reduce(comm, sums, count, DType::f64)}));
}

// This rank's part of a group's partial sums of squares; `at` is the place of the group's first.
void TimelineBuilder::norm_partial(size_t g, const Location& at) {
  const Reduced& sum = sums_[slot_of_[g]].whole;
  const int64_t shard_begin = group(g).shard_begin, shard_end = shard_begin + group(g).shard_elements;
  if (sum.ready.valid()) waits_.push_back(sum.ready);
  for (const FlatRange& range : groups_[g].normed) {
    const int64_t begin = std::max(range.begin, shard_begin), end = std::min(range.end, shard_end);
    if (begin >= end) continue;
    const Location grad{sum.at.buffer, sum.at.offset + (begin - shard_begin) * size_of(DType::f32)};
    const Location partial{at.buffer, at.offset + begin / kParamAlignment * size_of(DType::f64)};
    add_action(ActionKind::norm_partial,
               add_unit(group(g).name + "/norm", norm_partial_code(end - begin),
                        {{"grad", grad}, {"partial", partial}}),
               -1);
  }
}

// The square of each group's norm. A group has a partial sum per kParamAlignment elements, in their order, so
// that the bits do not depend on how its state is cut. Of the ranks that hold a group's same slices, one
// counts it.
BufferId TimelineBuilder::group_norms() {
  const Mesh& mesh = program_.mesh;
  const auto partials_of = [&](size_t g) { return groups_[g].used_elements / kParamAlignment; };
  std::vector<int64_t> first(groups_.size(), -1);  // the place of a counted group's first partial sum
  int64_t partials = 0, dense_partials = 0;
  for (const Domain domain : {Domain::dense, Domain::expert}) {
    for (size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].counted && groups_[g].domain == domain)
        first[g] = std::exchange(partials, partials + partials_of(g));
    if (domain == Domain::dense) dense_partials = partials;
  }
  const auto all = static_cast<int64_t>(groups_.size());
  const bool whole_model = !pipelined() && mesh.ep == 1 && std::ranges::count(first, -1) == 0;
  const BufferId norms = sums_buffer("group_norms", all, whole_model ? Summed::here : Summed::over_ranks);
  BufferId partial;
  if (partials > 0)
    partial =
        sums_buffer("norm_partials", partials, sharded() || mesh.tp > 1 ? Summed::over_ranks : Summed::here);
  const auto place = [](BufferId sums, int64_t i) -> Location { return {sums, i * size_of(DType::f64)}; };
  for (size_t g = 0; g < groups_.size(); ++g)
    if (first[g] >= 0) norm_partial(g, place(partial, first[g]));
  if (sharded() && partials > 0) {
    gather_sums(plan_.comms.of(Domain::dense).shard, place(partial, 0), dense_partials);
    gather_sums(plan_.comms.of(Domain::expert).shard, place(partial, dense_partials),
                partials - dense_partials);
  }
  // Ranks with other experts have the same dense parameters.
  const bool counts_dense = mesh.ep_index(program_.rank) == 0;
  for (size_t g = 0; g < groups_.size(); ++g)
    if (first[g] >= 0 && (counts_dense || groups_[g].domain == Domain::expert))
      add_action(
          ActionKind::group_norm,
          add_unit(group(g).name + "/group_norm", group_norm_code(partials_of(g)),
                   {{"partials", place(partial, first[g])}, {"norm", place(norms, static_cast<int64_t>(g))}}),
          -1);
  for (const CommId comm : {plan_.comms.tp, plan_.comms.ep, plan_.comms.pp})
    gather_sums(comm, place(norms, 0), all);
  return norms;
}

void TimelineBuilder::update(const UpdateRule& rule) {
  finish_gradients();
  const BufferId norms = group_norms();
  add_action(ActionKind::grad_norm,
             add_unit("grad_norm", grad_norm_code(static_cast<int64_t>(groups_.size()), rule),
                      {{"partials", {norms, 0}}, {"scalars", {program_.scalars, 0}}}),
             -1);
  for (size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].held) groups_[g].domain == Domain::whole ? router_state(g, rule) : optimizer(g, rule);
}

// The last load of a router's experts takes the place of a first moment.
void TimelineBuilder::router_state(size_t g, const UpdateRule& rule) {
  const Reduced& sum = sums_[slot_of_[g]].whole;
  if (sum.ready.valid()) waits_.push_back(sum.ready);
  for (const Param& param : program_.params) {
    if (static_cast<size_t>(param.group.index) != g) continue;
    const int64_t start = param.offset * size_of(DType::f32);
    add_action(ActionKind::optimizer,
               add_unit(group(g).name + "/update", router_state_code(param.shape[1], rule.balance_rate),
                        {{"load", {sum.at.buffer, sum.at.offset + start}},
                         {"scalars", {program_.scalars, 0}},
                         {"state", {group(g).master, start}},
                         {"last", {group(g).moment1, start}}}),
               -1);
  }
}

void TimelineBuilder::optimizer(size_t g, const UpdateRule& rule) {
  const int64_t begin = group(g).shard_begin, end = begin + group(g).shard_elements;
  const Reduced& sum = sums_[slot_of_[g]].whole;
  if (sum.ready.valid()) waits_.push_back(sum.ready);
  std::vector<FlatRange> ranges;
  std::vector<std::pair<std::string, Location>> bound{{"scalars", {program_.scalars, 0}}};
  for (FlatRange range : groups_[g].decay_ranges) {
    range.begin = std::max(range.begin, begin);
    range.end = std::min(range.end, end);
    if (range.begin >= range.end) continue;
    const size_t i = ranges.size();
    const int64_t start = (range.begin - begin) * size_of(DType::f32);
    ranges.push_back(range);
    const Location grad{sum.at.buffer, sum.at.offset + start};
    bound.push_back({fmt::format("grad.{}", i), grad});
    bound.push_back({fmt::format("master.{}", i), {group(g).master, start}});
    bound.push_back({fmt::format("moment1.{}", i), {group(g).moment1, start}});
    if (rule.kind == OptimizerKind::adamw)
      bound.push_back({fmt::format("moment2.{}", i), {group(g).moment2, start}});
  }
  if (ranges.empty()) return;  // this rank's shard is all padding
  add_action(ActionKind::optimizer,
             add_unit(group(g).name + "/optimizer", optimizer_code(ranges, rule), bound), -1);
}

}  // namespace trireme
