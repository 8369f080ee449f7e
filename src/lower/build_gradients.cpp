// Gradients of a timeline. A rank's lanes are summed one after the other, each in an accumulator of its own
// on a stack that works like a binary counter: lane l adds at depth popcount(l), and after it as many
// accumulators are added to the ones below as l has trailing ones. The sum of the first 2^k lanes is thus a
// binary tree; the communicator goes on with the same tree over ranks.
#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "lower/timeline_builder.h"

namespace trireme {
namespace {

// A reduce is waited for once the step after it is over: it has that one to hide behind.
constexpr size_t kStepsToJoin = 2;

}  // namespace

void TimelineBuilder::bind_gradients(const ChainBlock& block, Unit& unit) const {
  const Code& code = program_.code(block.code);
  const std::vector<ValueId> slots = values_with(code.values, ValueRole::param);
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::string name = code.value(slots[i]).name + ".grad";
    for (const ValueId grad : values_with(code.values, ValueRole::param_grad)) {
      if (code.value(grad).name != name) continue;
      const Param& param = program_.params[static_cast<size_t>(block.params[i].index)];
      const std::vector<BufferId>& gradients = copies_[static_cast<size_t>(param.group.index)].gradients;
      if (depth_ < gradients.size())
        unit.bound[static_cast<size_t>(grad.index)] = {gradients[depth_], param.offset * 4};
    }
  }
}

// At the first step of a lane: where its sums go, and which steps add to them.
void TimelineBuilder::start_lane(const std::vector<BlockStep>& steps, size_t i) {
  const int64_t per_lane = static_cast<int64_t>(micro_batches_.size()) / sharding_.lanes;
  const auto lane_of = [&](const BlockStep& step) { return step.micro_batch / per_lane; };
  const bool trains = steps.back().kind != ActionKind::forward;
  if (!trains || (i > 0 && lane_of(steps[i]) == lane_of(steps[i - 1]))) return;
  lane_ = lane_of(steps[i]);
  depth_ = static_cast<size_t>(std::popcount(static_cast<uint64_t>(lane_)));
  for (size_t g = 0; g < copies_.size(); ++g) {
    std::vector<BufferId>& gradients = copies_[g].gradients;
    if (depth_ < gradients.size()) continue;
    const std::string name = depth_ == 0 ? "/gradient" : fmt::format("/gradient.{}", depth_);
    gradients.push_back(buffer(group(g).name + name, BufferClass::gradient, group(g).elements * 4));
    CHECK(depth_ < gradients.size(), "lane {}: depth {} comes out of turn", lane_, depth_);
  }
  std::vector<bool> seen(copies_.size());
  for (size_t s = i; s < steps.size() && lane_of(steps[s]) == lane_; ++s)
    for (const size_t g : steps[s].adds_to) {
      if (!seen[g]) copies_[g].first_add = s;
      copies_[g].last_add = s;
      seen[g] = true;
    }
  if (sharding_.zero < 2)
    for (size_t g = 0; g < copies_.size(); ++g) zero_gradient(g);
}

// Where whole gradients are short-lived, they are cleared as late as can be.
void TimelineBuilder::before_adds(const BlockStep& step, size_t index) {
  for (const size_t g : step.adds_to)
    if (sharding_.zero >= 2 && !copies_[g].gradients.empty() && copies_[g].first_add == index)
      zero_gradient(g);
}

void TimelineBuilder::after_adds(const BlockStep& step, size_t index) {
  for (const size_t g : step.adds_to) {
    if (copies_[g].gradients.empty() || copies_[g].last_add != index) continue;
    combine_lanes(g);
    if (lane_ + 1 == sharding_.lanes) reduce_gradient(g, index);
  }
}

void TimelineBuilder::zero_gradient(size_t g) {
  add_action(ActionKind::zero,
             add_unit(group(g).name + "/zero", zero_code(group(g).elements),
                      {{"grad", {copies_[g].gradients[depth_], 0}}}),
             -1);
}

void TimelineBuilder::combine_lanes(size_t g) {
  const int merges = std::countr_one(static_cast<uint64_t>(lane_));
  for (size_t k = 0; k < static_cast<size_t>(merges); ++k) {
    const std::vector<BufferId>& gradients = copies_[g].gradients;
    add_action(ActionKind::combine_lanes,
               add_unit(group(g).name + "/combine", combine_code(group(g).elements),
                        {{"earlier", {gradients[depth_ - k - 1], 0}}, {"later", {gradients[depth_ - k], 0}}}),
               -1);
  }
}

void TimelineBuilder::reduce_gradient(size_t g, size_t step) {
  const ParamGroup& group = this->group(g);
  Copies& copies = copies_[g];
  const Location whole{copies.gradients[0], 0};
  copies.reduced = whole;
  if (ranks() == 1) return;
  if (!sharded()) {
    copies.reduce = add_comm(
        ActionKind::reduce_grad,
        {{.op = CommOp::all_reduce, .comm = comms_.dp, .from = whole, .to = whole, .count = group.elements}});
    return;
  }
  const int64_t n = group.shard_elements;
  copies.reduced.offset = group.shard_begin * 4;
  if (sharding_.zero >= 2)
    copies.reduced = {buffer(group.name + "/gradient_shard", BufferClass::gradient, n * 4), 0};
  std::vector<Transfer> transfers = {{.op = CommOp::reduce_scatter,
                                      .comm = comms_.dp_shard,
                                      .from = whole,
                                      .to = copies.reduced,
                                      .count = n}};
  if (program_.mesh.dp_replicate > 1)
    transfers.push_back({.op = CommOp::all_reduce,
                         .comm = comms_.dp_replicate,
                         .from = copies.reduced,
                         .to = copies.reduced,
                         .count = n});
  copies.reduce = add_comm(ActionKind::reduce_grad, std::move(transfers));
  if (sharding_.zero >= 2) joins_.push_back({copies.reduce, step + kStepsToJoin});
}

}  // namespace trireme
