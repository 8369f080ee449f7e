// When a run saves and when it ends. Every rank asks at the end of every step, and all must come to the same
// answer; so it is got in three parts. What one rank sees (a signal, a notice, the leader's clock) is a
// StepSight. The sum of these over ranks says what all know, StepFacts. decide() is a function of that, the
// step and the config. Called by the training loop; pure, all times are given.
//
//   StepSight sight{.signal = signals.stop_requested() != 0, .notice = notice.noticed().has_value()};
//   if (leads) clock.look(step, now_s, SaveInFlight::no, sight);
//   const StepFacts facts = facts_of(link.sum(to_sum(sight), "the end of a step"));
//   const StepDecision decision = decide(step, cadence, facts);
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace trireme {

struct Cadence {
  int64_t last_step = 0;       // run.steps
  int64_t every_steps = 0;     // checkpoint.every_steps; 0: not by steps
  double every_minutes = 0;    // checkpoint.every_minutes; 0: not by the clock
  double max_minutes = 0;      // run.max_minutes, from the start of the process; 0: no limit
  double expected_save_s = 0;  // how long a save may take, until one has been seen
  double after_save_s = 0;     // what a run that stops waits for besides, at most
};

struct StepSight {
  bool signal = false;       // to this process
  bool notice = false;       // of preemption, on this machine
  bool save_due = false;     // the leader's clock alone says this and the next
  bool out_of_time = false;  // another step and the saves after it would not fit
};

struct StepFacts {
  int64_t signalled = 0;  // ranks whose process got a signal
  int64_t noticed = 0;    // ranks whose machine got a notice
  bool save_due = false;
  bool out_of_time = false;
};

// A whole number below 2^52 whose sum over up to 2^24 - 1 ranks is exact in any order, and has all their
// facts.
double to_sum(const StepSight& sight);
StepFacts facts_of(double sum);

enum class RunEnd : uint8_t { no, done, signal, notice, time_limit };

std::string_view text_of(RunEnd end);  // "a signal", for "stopped by ..."
int exit_code_of(RunEnd end);          // kDone for done, kStoppedAndSaved for the three that stop it

struct StepDecision {
  bool save = false;  // always when the run ends
  RunEnd end = RunEnd::no;
};

// After `step`. The last step is the last whatever else was asked for: nothing is left to go on with.
StepDecision decide(int64_t step, const Cadence& cadence, const StepFacts& facts);

enum class SaveInFlight : uint8_t { no, yes };

// The leader's clock. Times are seconds since the process began.
//
// The time limit: a run must have saved and ended before it. It ends after a step when the longest step seen,
// the saves under way or due and a last one, each as long as the longest seen, and a spare (half of all that,
// at least kLeastSpare_s) would pass the limit. The first step of a process is always done, so that a run
// which is started again and again gets on; when not even its save would fit, the run is refused instead.
class RunClock {
 public:
  static constexpr double kLeastSpare_s = 5;

  // At the start of the loop, from which every_minutes count. UserError when max_minutes is nearly over.
  RunClock(const Cadence& cadence, double now_s);

  void saw_step(double step_s);  // with its evaluation, without saving
  void saw_save(double save_s);  // from its begin to its COMMITTED
  // every_minutes count from here again, also if this save fails.
  void begin_save(double now_s);

  // Fills in the clock's part.
  void look(int64_t step, double now_s, SaveInFlight in_flight, StepSight& sight) const;

 private:
  double need_s(int64_t steps, int64_t saves) const;

  Cadence cadence_;
  double last_save_s_;
  double longest_step_s_ = 0;
  std::optional<double> longest_save_s_;
};

}  // namespace trireme
