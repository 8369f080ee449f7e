// The order of things in each kind of timeline, on one page.
#include "lower/lower.h"

#include "lower/buffers.h"
#include "lower/timeline_builder.h"
#include "ops/grad_norm/grad_norm.h"

namespace trireme {
namespace {

// Micro-batches of one timeline through the blocks, with weights that are made or fetched for it.
void run_blocks(TimelineBuilder& builder, const Sharding& sharding, const std::vector<ScheduleStep>& rows) {
  if (sharding.shards == 1) builder.make_weights(TimelineBuilder::Life::timeline);
  builder.run(rows);
  builder.loss();
}

}  // namespace

void lower_training(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                    const std::vector<ScheduleStep>& rows, const TrainingPlan& plan) {
  program.scalars = add_buffer(program, "scalars", BufferClass::scalar,
                               static_cast<int64_t>(kStepScalars) * size_of(DType::f64));
  TimelineBuilder builder(program, groups, chain, plan.comms, plan.sharding, plan.compute);
  builder.start("train", plan.micro_batches);
  run_blocks(builder, plan.sharding, rows);
  builder.update(plan.rule);
}

void lower_evaluation(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                      const std::vector<ScheduleStep>& rows, const EvaluationPlan& plan) {
  TimelineBuilder builder(program, groups, chain, plan.comms, plan.sharding, plan.compute);
  builder.start("eval", plan.micro_batches);
  run_blocks(builder, plan.sharding, rows);
}

void lower_generation(Program& program, const std::vector<GroupPlan>& groups, const Chain& prefill,
                      const Chain& decode, DType compute) {
  TimelineBuilder builder(program, groups, prefill, CommIds{}, Sharding{}, compute);
  builder.start("weights", 0);
  builder.make_weights(TimelineBuilder::Life::lasting);
  builder.start("prefill", 1);
  builder.forward(0);
  builder.use_chain(decode);
  builder.start("decode", 1);
  builder.forward(0);
}

}  // namespace trireme
