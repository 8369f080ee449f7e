// The order of things in each kind of timeline, on one page.
#include "lower/lower.h"

#include "lower/buffers.h"
#include "lower/timeline_builder.h"
#include "ops/grad_norm/grad_norm.h"

namespace trireme {
namespace {

// A rank's part of a schedule, with weights that are made or fetched for it.
void run_blocks(TimelineBuilder& builder, const RankPlan& plan, const Schedule& schedule) {
  if (!plan.sharding.cuts()) builder.make_weights(TimelineBuilder::Life::timeline);
  builder.run(schedule);
  builder.loss();
}

}  // namespace

void lower_training(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                    const Schedule& schedule, const RankPlan& plan, const UpdateRule& rule) {
  program.scalars = add_buffer(program, "scalars", BufferClass::scalar,
                               static_cast<int64_t>(kStepScalars) * size_of(DType::f64));
  TimelineBuilder builder(program, groups, chain, plan);
  builder.start("train", schedule.micro_batches);
  run_blocks(builder, plan, schedule);
  builder.update(rule);
}

void lower_evaluation(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                      const Schedule& schedule, const RankPlan& plan) {
  TimelineBuilder builder(program, groups, chain, plan);
  builder.start("eval", schedule.micro_batches);
  run_blocks(builder, plan, schedule);
}

void lower_generation(Program& program, const std::vector<GroupPlan>& groups, const Chain& prefill,
                      const Chain& decode, const RankPlan& plan) {
  TimelineBuilder builder(program, groups, prefill, plan);
  builder.start("weights", 0);
  builder.make_weights(TimelineBuilder::Life::lasting);
  builder.start("prefill", 1);
  builder.forward(0);
  builder.use_chain(decode);
  builder.start("decode", 1);
  builder.forward(0);
}

}  // namespace trireme
