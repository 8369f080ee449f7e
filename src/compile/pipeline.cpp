// Each rule is the schedule folder's; here they get the config's numbers, and keys get their names.
#include "compile/pipeline.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/catalog.h"
#include "schedule/check.h"
#include "schedule/placement.h"
#include "schedule/read.h"

namespace trireme {
namespace {

ScheduleInput input_of(const RunSpec& spec) {
  return {.ranks = static_cast<int32_t>(spec.parallel.pp),
          .stages_per_rank = static_cast<int32_t>(spec.parallel.virtual_stages.value_or(1)),
          .micro_batches = static_cast<int32_t>(micro_batches_per_step(spec))};
}

// "parallel.schedule = "1f1b"", for messages.
std::string source_of(const RunSpec& spec) {
  if (spec.parallel.schedule_file)
    return fmt::format("parallel.schedule_file = \"{}\"", *spec.parallel.schedule_file);
  return fmt::format("parallel.schedule = \"{}\"", name_of_value(spec.parallel.schedule));
}

Schedule from_file(const RunSpec& spec) {
  if (!spec.schedule.error.empty()) fail_env("{}", spec.schedule.error);
  const std::string name = source_of(spec);
  Schedule schedule = read_schedule(spec.schedule.text, name);
  ScheduleInput run = input_of(spec);
  if (!spec.parallel.virtual_stages)
    run.stages_per_rank = std::max(1, schedule.placement.stages() / run.ranks);
  require_shape(schedule, name, run);
  return schedule;
}

// The bits of a run are those of one rank: lanes are summed whole and in order.
void check_sums(const RunSpec& spec, const Schedule& schedule) {
  const int64_t data_parallel = data_parallel_ranks(spec), lanes = spec.batch.lanes;
  const int64_t copies = schedule.placement.directions();
  if (lanes / data_parallel % copies != 0)
    fail_user(
        "batch.lanes = {} does not suit {}, whose {} copies of a stage each sum a part of the micro-batches: "
        "it must be a multiple of {} x the {} data-parallel ranks; use {}",
        lanes, source_of(spec), copies, copies, data_parallel, copies * data_parallel);
  const std::string fault = find_sum_fault(schedule, static_cast<int32_t>(lanes / data_parallel));
  if (!fault.empty())
    fail_user(
        "{} sums gradients in another order than one rank would with batch.lanes = {}: {}; let each stage go "
        "back through the micro-batches of a lane from the first to the last",
        source_of(spec), lanes, fault);
}

}  // namespace

Schedule make_pipeline(const RunSpec& spec) {
  const ScheduleInput input = input_of(spec);
  if (input.ranks == 1)
    return {.table = accumulate(input.micro_batches),
            .placement = loop_placement(1, 1),
            .micro_batches = input.micro_batches};
  Schedule schedule = spec.parallel.schedule_file
                          ? from_file(spec)
                          : make_schedule(name_of_value(spec.parallel.schedule), input);
  const std::string fault = find_fault(schedule, ScheduleUse::training);
  CHECK(fault.empty(), "{}: {}", source_of(spec), fault);
  check_sums(spec, schedule);
  return schedule;
}

}  // namespace trireme
