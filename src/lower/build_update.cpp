// The end of a step: the loss of all ranks, the norm of the whole gradient, the update of this rank's shard.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "lower/timeline_builder.h"

namespace trireme {

void TimelineBuilder::loss() {
  CHECK(static_cast<int64_t>(micro_batches_.size()) % sharding_.lanes == 0, "{} micro-batches in {} lanes",
        micro_batches_.size(), sharding_.lanes);
  const UnitId unit =
      add_unit("loss", loss_code(static_cast<int64_t>(micro_batches_.size()), sharding_.lanes),
               {{"losses", {losses_, 0}}, {"result", {program_.result, 0}}});
  add_action(ActionKind::loss, unit, -1);
  if (ranks() == 1) return;
  const Location result{program_.result, 0};
  add_comm(ActionKind::reduce_loss, {{.op = CommOp::all_reduce,
                                      .comm = comms_.dp,
                                      .from = result,
                                      .to = result,
                                      .count = 2,
                                      .dtype = DType::f64}});
}

// A partial sum per kParamAlignment elements of every group, in their order, so that the norm's bits do not
// depend on how groups are cut. Where they are, each rank fills in its part and zeros are added to it.
BufferId TimelineBuilder::norm_partials() {
  int64_t partials = 0;
  for (const GroupPlan& plan : groups_) partials += plan.used_elements / kParamAlignment;
  const int64_t bytes = partials * size_of(DType::f64);
  const BufferId partial = buffer("norm_partials", BufferClass::scalar, bytes);
  if (sharded())
    add_action(
        ActionKind::zero,
        add_unit("norm_partials/zero", zero_code(bytes / size_of(DType::f32)), {{"grad", {partial, 0}}}), -1);
  int64_t offset = 0;
  for (size_t g = 0; g < copies_.size(); ++g) {
    const int64_t begin = group(g).shard_begin, used = groups_[g].used_elements;
    const int64_t n = std::min(group(g).shard_elements, used - begin);
    if (copies_[g].reduce.valid()) waits_.push_back(copies_[g].reduce);
    if (n > 0)
      add_action(ActionKind::norm_partial,
                 add_unit(group(g).name + "/norm", norm_partial_code(n),
                          {{"grad", copies_[g].reduced},
                           {"partial", {partial, offset + begin / kParamAlignment * size_of(DType::f64)}}}),
                 -1);
    offset += used / kParamAlignment * size_of(DType::f64);
  }
  if (sharded())
    waits_.push_back(add_comm(ActionKind::gather_norm, {{.op = CommOp::all_reduce,
                                                         .comm = comms_.dp_shard,
                                                         .from = {partial, 0},
                                                         .to = {partial, 0},
                                                         .count = partials,
                                                         .dtype = DType::f64}}));
  return partial;
}

void TimelineBuilder::update(const UpdateRule& rule) {
  const BufferId partial = norm_partials();
  const int64_t partials = program_.buffer(partial).bytes / size_of(DType::f64);
  add_action(ActionKind::grad_norm,
             add_unit("grad_norm", grad_norm_code(partials, rule),
                      {{"partials", {partial, 0}}, {"scalars", {program_.scalars, 0}}}),
             -1);
  for (size_t g = 0; g < copies_.size(); ++g) optimizer(g, rule);
}

void TimelineBuilder::optimizer(size_t g, const UpdateRule& rule) {
  const int64_t begin = group(g).shard_begin, end = begin + group(g).shard_elements;
  std::vector<FlatRange> ranges;
  std::vector<std::pair<std::string, Location>> bound{{"scalars", {program_.scalars, 0}}};
  for (FlatRange range : groups_[g].decay_ranges) {
    range.begin = std::max(range.begin, begin);
    range.end = std::min(range.end, end);
    if (range.begin >= range.end) continue;
    const size_t i = ranges.size();
    const int64_t start = (range.begin - begin) * 4;
    ranges.push_back(range);
    const Location grad{copies_[g].reduced.buffer, copies_[g].reduced.offset + start};
    bound.push_back({fmt::format("grad.{}", i), grad});
    bound.push_back({fmt::format("master.{}", i), {group(g).master, start}});
    bound.push_back({fmt::format("moment1.{}", i), {group(g).moment1, start}});
    bound.push_back({fmt::format("moment2.{}", i), {group(g).moment2, start}});
  }
  if (ranges.empty()) return;  // this rank's shard is all padding
  add_action(ActionKind::optimizer,
             add_unit(group(g).name + "/optimizer", optimizer_code(ranges, rule), bound), -1);
}

}  // namespace trireme
