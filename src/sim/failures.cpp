// Nothing walks the run's steps: a failure is arithmetic on its step's number.
#include "sim/failures.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "ir/state_boxes.h"

namespace trireme {
namespace {

// Of all ranks of the fullest stage: they write at once.
int64_t written_bytes_per_rank(std::span<const Program> programs) {
  int64_t most = 0;
  for (const Program& program : programs) most = std::max(most, written_bytes(program));
  return most;
}

double seconds(int64_t bytes, double bytes_per_s) {
  return bytes_per_s > 0 ? static_cast<double>(bytes) / bytes_per_s : 0;
}

int64_t steps_per_save(const CheckpointSpec& checkpoint, double step_s) {
  const int64_t by_steps = checkpoint.every_steps;
  if (checkpoint.every_minutes <= 0 || step_s <= 0) return by_steps;
  const auto by_clock =
      static_cast<int64_t>(std::clamp(std::ceil(60 * checkpoint.every_minutes / step_s), 1.0, 1e12));
  return by_steps > 0 ? std::min(by_steps, by_clock) : by_clock;
}

// The step that the run goes on from when it fails in step `step`, having begun from `from`.
int64_t resumes_from(const RunShape& run, int64_t step, int64_t from) {
  if (run.steps_per_save == 0) return from;
  for (int64_t saved = (step - 1) / run.steps_per_save * run.steps_per_save; saved > from;
       saved -= run.steps_per_save) {
    const int64_t since = step - saved, later_saves = (step - 1 - saved) / run.steps_per_save;
    const double passed_s =
        static_cast<double>(since) * run.step_s + static_cast<double>(later_saves + 1) * run.blocked_s;
    if (passed_s >= run.committed_s) return saved;
  }
  return from;
}

// Saves in the run that are not its last.
int64_t saves_before(const RunShape& run, int64_t step) {
  return run.steps_per_save > 0 ? step / run.steps_per_save : 0;
}

}  // namespace

RunShape shape_of_run(const RunSpec& spec, std::span<const Program> programs, const Cluster& cluster,
                      double step_s) {
  const int64_t bytes = written_bytes_per_rank(programs);
  const Hardware& hardware = *cluster.hardware;
  const double copy_s = seconds(bytes, hardware.host_bytes_per_s);
  const double store_s = seconds(bytes * cluster.share.ranks_per_node, hardware.store_bytes_per_s);
  RunShape run{.steps = spec.run.steps,
               .step_s = step_s,
               .steps_per_save = steps_per_save(spec.checkpoint, step_s),
               .blocked_s = spec.checkpoint.async ? copy_s : store_s,
               .committed_s = spec.checkpoint.async ? copy_s + store_s : store_s};
  // A save waits for the one before it.
  if (run.steps_per_save > 0)
    run.blocked_s =
        std::max(run.blocked_s, run.committed_s - static_cast<double>(run.steps_per_save) * step_s);
  return run;
}

RunTime time_of_run(const RunShape& run) {
  const int64_t saves = (run.steps + run.steps_per_save - 1) / std::max<int64_t>(1, run.steps_per_save);
  return {.steps_s = static_cast<double>(run.steps) * run.step_s,
          .saves_s =
              static_cast<double>(run.steps_per_save > 0 ? saves - 1 : 0) * run.blocked_s + run.committed_s};
}

RunTime time_of_run(const RunShape& run, std::span<const RunFailure> failures) {
  RunTime time = time_of_run(run);
  std::vector<RunFailure> in_order(failures.begin(), failures.end());
  std::ranges::stable_sort(in_order, {}, &RunFailure::step);
  int64_t from = 0;
  for (const RunFailure& failure : in_order) {
    CHECK(failure.step >= 1 && failure.step <= run.steps, "step {} of {}", failure.step, run.steps);
    from = resumes_from(run, failure.step, from);
    time.lost_s += static_cast<double>(failure.step - from) * run.step_s;
    time.lost_s +=
        static_cast<double>(saves_before(run, failure.step - 1) - saves_before(run, from)) * run.blocked_s;
    time.restarts_s += failure.restart_s;
  }
  return time;
}

double expected_slowdown(const SaveCycle& cycle, const FailureRate& rate) {
  const double m = rate.mtbf_s;
  return m * std::exp(rate.restart_s / m) * std::expm1((cycle.work_s + cycle.save_s) / m) / cycle.work_s;
}

double expected_run_s(const RunShape& run, const FailureRate& rate) {
  const auto steps =
      static_cast<double>(run.steps_per_save > 0 ? std::min(run.steps_per_save, run.steps) : run.steps);
  const SaveCycle cycle{.work_s = steps * run.step_s,
                        .save_s = run.steps_per_save > 0 ? run.blocked_s : run.committed_s};
  return expected_slowdown(cycle, rate) * time_of_run(run).steps_s;
}

}  // namespace trireme
