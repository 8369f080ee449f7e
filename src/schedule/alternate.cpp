// Warm-up, one forward and one backward in turn, cool-down.
#include "schedule/alternate.h"

namespace trireme {

std::vector<ScheduleStep> alternate(const Alternation& order) {
  std::vector<ScheduleStep> row;
  size_t forward = 0, back = 0, weight = 0;
  const auto go_forward = [&] {
    const Turn turn = order.forwards[forward++];
    row.push_back({turn.stage, StepKind::forward, turn.micro_batch});
  };
  const auto add_weight = [&] {
    const Turn turn = order.backwards[weight++];
    row.push_back({turn.stage, StepKind::backward_weight, turn.micro_batch});
  };
  while (forward < order.forwards.size() && forward < static_cast<size_t>(order.warmup)) go_forward();
  while (back < order.backwards.size()) {
    if (forward < order.forwards.size()) go_forward();
    const Turn turn = order.backwards[back++];
    row.push_back(
        {turn.stage, order.weight_lag ? StepKind::backward_input : StepKind::backward, turn.micro_batch});
    if (order.weight_lag && back > static_cast<size_t>(*order.weight_lag)) add_weight();
  }
  while (order.weight_lag && weight < back) add_weight();
  return row;
}

std::vector<Turn> grouped_turns(const ScheduleInput& input, int32_t rank, StageOrder order) {
  std::vector<Turn> turns;
  for (int32_t first = 0; first < input.micro_batches; first += input.ranks)
    for (int32_t i = 0; i < input.stages_per_rank; ++i) {
      const int32_t chunk = order == StageOrder::ascending ? i : input.stages_per_rank - 1 - i;
      for (int32_t m = first; m < first + input.ranks; ++m) turns.push_back({chunk * input.ranks + rank, m});
    }
  return turns;
}

void drop_padding(std::vector<ScheduleStep>& row, int32_t micro_batches) {
  std::erase_if(row, [&](const ScheduleStep& step) { return step.micro_batch >= micro_batches; });
}

}  // namespace trireme
