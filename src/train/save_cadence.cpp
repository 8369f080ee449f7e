// The sum's layout: two counts of 24 bits, then the leader's two bits, each with room to be set twice.
#include "train/save_cadence.h"

#include <algorithm>

#include "base/error.h"
#include "base/exit_code.h"

namespace trireme {
namespace {

constexpr int64_t kOneSignal = 1;
constexpr int64_t kOneNotice = int64_t{1} << 24;
constexpr int64_t kOneSaveDue = int64_t{1} << 48;
constexpr int64_t kOneOutOfTime = int64_t{1} << 50;
constexpr int64_t kEnd = int64_t{1} << 52;

bool is_due_by_steps(int64_t step, const Cadence& cadence) {
  return cadence.every_steps > 0 && step % cadence.every_steps == 0;
}

RunEnd end_after(int64_t step, const Cadence& cadence, const StepFacts& facts) {
  if (step >= cadence.last_step) return RunEnd::done;
  if (facts.signalled > 0) return RunEnd::signal;
  if (facts.noticed > 0) return RunEnd::notice;
  return facts.out_of_time ? RunEnd::time_limit : RunEnd::no;
}

}  // namespace

double to_sum(const StepSight& sight) {
  int64_t sum = 0;
  if (sight.signal) sum += kOneSignal;
  if (sight.notice) sum += kOneNotice;
  if (sight.save_due) sum += kOneSaveDue;
  if (sight.out_of_time) sum += kOneOutOfTime;
  return static_cast<double>(sum);
}

StepFacts facts_of(double sum) {
  CHECK(sum >= 0 && sum < static_cast<double>(kEnd), "{}", sum);
  const auto all = static_cast<int64_t>(sum);
  return {.signalled = all % kOneNotice,
          .noticed = all % kOneSaveDue / kOneNotice,
          .save_due = all % kOneOutOfTime / kOneSaveDue > 0,
          .out_of_time = all / kOneOutOfTime > 0};
}

std::string_view text_of(RunEnd end) {
  switch (end) {
    case RunEnd::no:
      return "nothing";
    case RunEnd::done:
      return "its last step";
    case RunEnd::signal:
      return "a signal";
    case RunEnd::notice:
      return "a preemption notice";
    case RunEnd::time_limit:
      return "run.max_minutes";
  }
  CHECK(false, "{}", static_cast<int>(end));
  return "";
}

int exit_code_of(RunEnd end) {
  CHECK(end != RunEnd::no);
  return end == RunEnd::done ? kDone : kStoppedAndSaved;
}

StepDecision decide(int64_t step, const Cadence& cadence, const StepFacts& facts) {
  const RunEnd end = end_after(step, cadence, facts);
  return {.save = end != RunEnd::no || is_due_by_steps(step, cadence) || facts.save_due, .end = end};
}

RunClock::RunClock(const Cadence& cadence, double now_s) : cadence_(cadence), last_save_s_(now_s) {
  const double limit_s = cadence.max_minutes * 60;
  const double least_s = now_s + need_s(1, 1);
  if (limit_s > 0 && least_s > limit_s)
    fail_user(
        "run.max_minutes = {} leaves no time for a step: {:.1f} s have gone by until the first one and "
        "{:.1f} s are set aside for saving; use well over {:.2f}, or 0 for no limit",
        cadence.max_minutes, now_s, need_s(1, 1), least_s / 60);
}

void RunClock::saw_step(double step_s) { longest_step_s_ = std::max(longest_step_s_, step_s); }

void RunClock::saw_save(double save_s) { longest_save_s_ = std::max(longest_save_s_.value_or(0), save_s); }

void RunClock::begin_save(double now_s) { last_save_s_ = now_s; }

double RunClock::need_s(int64_t steps, int64_t saves) const {
  const double seen_s = static_cast<double>(steps) * longest_step_s_ +
                        static_cast<double>(saves) * longest_save_s_.value_or(cadence_.expected_save_s);
  return seen_s + cadence_.after_save_s + std::max(seen_s / 2, kLeastSpare_s);
}

void RunClock::look(int64_t step, double now_s, SaveInFlight in_flight, StepSight& sight) const {
  const double every_s = cadence_.every_minutes * 60, limit_s = cadence_.max_minutes * 60;
  sight.save_due = every_s > 0 && now_s - last_save_s_ >= every_s;
  const int64_t under_way = in_flight == SaveInFlight::yes ? 1 : 0;
  const int64_t due = sight.save_due || is_due_by_steps(step, cadence_) ? 1 : 0;
  sight.out_of_time = limit_s > 0 && now_s + need_s(1, under_way + due + 1) > limit_s;
}

}  // namespace trireme
