// The order of things in each kind of timeline, on one page.
#include "lower/lower.h"

#include "lower/buffers.h"
#include "lower/timeline_builder.h"
#include "ops/grad_norm/grad_norm.h"

namespace trireme {
namespace {

void run_rows(TimelineBuilder& builder, const std::vector<ScheduleStep>& rows) {
  for (const ScheduleStep& row : rows) {
    if (row.kind == StepKind::forward) {
      builder.load(row.micro_batch);
      builder.forward(row.micro_batch);
    } else {
      CHECK(row.kind == StepKind::backward, "one stage runs its backward whole");
      builder.backward(row.micro_batch);
    }
  }
}

}  // namespace

void lower_training(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                    const std::vector<ScheduleStep>& rows, int32_t micro_batches, const UpdateRule& rule,
                    DType compute) {
  program.scalars = add_buffer(program, "scalars", BufferClass::scalar,
                               static_cast<int64_t>(kStepScalars) * size_of(DType::f64));
  TimelineBuilder builder(program, groups, chain, compute);
  builder.start("train", micro_batches);
  builder.place_weights(TimelineBuilder::Life::timeline);
  builder.place_gradients();
  builder.bind_blocks();
  builder.unshard_and_prepare();
  builder.zero_gradients();
  run_rows(builder, rows);
  builder.loss();
  builder.update(rule);
}

void lower_evaluation(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                      const std::vector<ScheduleStep>& rows, int32_t micro_batches, DType compute) {
  TimelineBuilder builder(program, groups, chain, compute);
  builder.start("eval", micro_batches);
  builder.place_weights(TimelineBuilder::Life::timeline);
  builder.bind_blocks();
  builder.unshard_and_prepare();
  run_rows(builder, rows);
  builder.loss();
}

void lower_generation(Program& program, const std::vector<GroupPlan>& groups, const Chain& prefill,
                      const Chain& decode, DType compute) {
  TimelineBuilder builder(program, groups, prefill, compute);
  builder.start("weights", 0);
  builder.place_weights(TimelineBuilder::Life::lasting);
  builder.bind_blocks();
  builder.unshard_and_prepare();
  builder.start("prefill", 1);
  builder.bind_blocks();
  builder.load(0);
  builder.forward(0);
  builder.use_chain(decode);
  builder.start("decode", 1);
  builder.bind_blocks();
  builder.load(0);
  builder.forward(0);
}

}  // namespace trireme
