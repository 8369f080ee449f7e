// Tables of when a run saves and ends, and runs through a simulated clock that must end before their limit.
#include "train/save_cadence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/exit_code.h"

namespace trireme {
namespace {

TEST(SaveCadence, Decides) {
  const Cadence by_steps{.last_step = 100, .every_steps = 10}, never{.last_step = 100};
  struct Case {
    int64_t step;
    Cadence cadence;
    StepFacts facts;
    bool save;
    RunEnd end;
  };
  for (const Case& c : {
           Case{7, by_steps, {}, false, RunEnd::no},
           Case{10, by_steps, {}, true, RunEnd::no},
           Case{10, never, {}, false, RunEnd::no},
           Case{7, by_steps, {.save_due = true}, true, RunEnd::no},
           Case{7, never, {.save_due = true}, true, RunEnd::no},
           Case{100, never, {}, true, RunEnd::done},
           Case{100, by_steps, {}, true, RunEnd::done},
           Case{7, by_steps, {.signalled = 1}, true, RunEnd::signal},
           Case{7, by_steps, {.noticed = 3}, true, RunEnd::notice},
           Case{7, by_steps, {.out_of_time = true}, true, RunEnd::time_limit},
           Case{7, never, {.signalled = 1, .noticed = 1, .out_of_time = true}, true, RunEnd::signal},
           Case{7, never, {.noticed = 1, .out_of_time = true}, true, RunEnd::notice},
           Case{100, never, {.signalled = 1, .noticed = 1, .out_of_time = true}, true, RunEnd::done},
       }) {
    const StepDecision decision = decide(c.step, c.cadence, c.facts);
    EXPECT_EQ(decision.save, c.save) << c.step << " " << text_of(c.end);
    EXPECT_EQ(decision.end, c.end) << c.step << " " << text_of(c.end) << " " << text_of(decision.end);
  }
}

TEST(SaveCadence, ExitCodes) {
  EXPECT_EQ(exit_code_of(RunEnd::done), kDone);
  for (const RunEnd end : {RunEnd::signal, RunEnd::notice, RunEnd::time_limit})
    EXPECT_EQ(exit_code_of(end), kStoppedAndSaved);
}

// Whatever the ranks see and in whatever order they are added.
TEST(SaveCadence, TheSumHasWhatEachRankSaw) {
  std::mt19937 random(3);
  std::bernoulli_distribution often(0.5);
  for (int trial = 0; trial < 200; ++trial) {
    StepFacts expected;
    std::vector<double> parts;
    for (int rank = 0; rank < 40; ++rank) {
      StepSight sight{.signal = often(random), .notice = often(random)};
      if (rank == 0) {
        sight.save_due = expected.save_due = often(random);
        sight.out_of_time = expected.out_of_time = often(random);
      }
      expected.signalled += sight.signal ? 1 : 0;
      expected.noticed += sight.notice ? 1 : 0;
      parts.push_back(to_sum(sight));
    }
    std::shuffle(parts.begin(), parts.end(), random);
    double sum = 0;
    for (const double part : parts) sum += part;
    const StepFacts facts = facts_of(sum);
    EXPECT_EQ(facts.signalled, expected.signalled);
    EXPECT_EQ(facts.noticed, expected.noticed);
    EXPECT_EQ(facts.save_due, expected.save_due);
    EXPECT_EQ(facts.out_of_time, expected.out_of_time);
  }
}

TEST(SaveCadence, TheSumHoldsMillionsOfRanks) {
  const double ranks = (1 << 24) - 1;
  const double sum =
      ranks * to_sum({.signal = true, .notice = true}) + to_sum({.save_due = true, .out_of_time = true});
  const StepFacts facts = facts_of(sum);
  EXPECT_EQ(facts.signalled, (1 << 24) - 1);
  EXPECT_EQ(facts.noticed, (1 << 24) - 1);
  EXPECT_TRUE(facts.save_due && facts.out_of_time);
  EXPECT_NE(sum, sum - 1) << "exact";
  EXPECT_DEATH(facts_of(-1), "sum >= 0");
}

StepSight look(const RunClock& clock, int64_t step, double now_s, SaveInFlight in_flight = SaveInFlight::no) {
  StepSight sight;
  clock.look(step, now_s, in_flight, sight);
  return sight;
}

TEST(SaveCadence, MinutesCountFromTheLastSaveOfAnyKind) {
  RunClock clock({.last_step = 100, .every_steps = 10, .every_minutes = 2}, 50);
  EXPECT_FALSE(look(clock, 1, 169.9).save_due);
  EXPECT_TRUE(look(clock, 2, 170).save_due);
  clock.begin_save(160);  // by steps
  EXPECT_FALSE(look(clock, 3, 170).save_due);
  EXPECT_TRUE(look(clock, 4, 280).save_due);
  EXPECT_FALSE(look(RunClock({.last_step = 100}, 0), 1, 1e9).save_due) << "0: not by the clock";
}

TEST(SaveCadence, TheClockLeavesTheOthersSightAlone) {
  StepSight sight{.signal = true, .notice = true, .save_due = true, .out_of_time = true};
  RunClock({.last_step = 100}, 0).look(1, 10, SaveInFlight::no, sight);
  EXPECT_TRUE(sight.signal && sight.notice);
  EXPECT_FALSE(sight.save_due || sight.out_of_time);
}

// Steps of up to 8 s, saves of up to 20 s; limit 600 s.
TEST(SaveCadence, EndsWhenAnotherStepAndItsSavesWouldNotFit) {
  const Cadence cadence{.last_step = 100000, .every_steps = 10, .max_minutes = 10};
  RunClock clock(cadence, 30);
  for (const double step_s : {2.0, 8.0, 3.0}) clock.saw_step(step_s);
  for (const double save_s : {20.0, 5.0}) clock.saw_save(save_s);
  // A step and a last save: 1.5 * 28 s.
  EXPECT_FALSE(look(clock, 11, 600 - 42).out_of_time);
  EXPECT_TRUE(look(clock, 11, 600 - 41.9).out_of_time);
  // One in flight or due besides: 1.5 * 48 s.
  EXPECT_FALSE(look(clock, 11, 600 - 72, SaveInFlight::yes).out_of_time);
  EXPECT_TRUE(look(clock, 11, 600 - 71.9, SaveInFlight::yes).out_of_time);
  EXPECT_FALSE(look(clock, 20, 600 - 72).out_of_time);
  EXPECT_TRUE(look(clock, 20, 600 - 71.9).out_of_time);
  // Both: 1.5 * 68 s.
  EXPECT_FALSE(look(clock, 20, 600 - 102, SaveInFlight::yes).out_of_time);
  EXPECT_TRUE(look(clock, 20, 600 - 101.9, SaveInFlight::yes).out_of_time);
  EXPECT_FALSE(look(RunClock({.last_step = 9}, 0), 1, 1e12).out_of_time) << "0: no limit";
}

TEST(SaveCadence, ASaveDueByTheClockCounts) {
  RunClock clock({.last_step = 100000, .every_minutes = 1, .max_minutes = 10}, 500);
  clock.saw_save(20);
  EXPECT_FALSE(look(clock, 1, 559).out_of_time) << "1.5 * 20 s";
  EXPECT_TRUE(look(clock, 1, 560).out_of_time) << "1.5 * 40 s";
}

TEST(SaveCadence, UntilASaveIsSeenTheExpectedOneCounts) {
  RunClock clock({.last_step = 9, .max_minutes = 10, .expected_save_s = 100}, 0);
  EXPECT_TRUE(look(clock, 1, 451).out_of_time);
  clock.saw_save(10);
  EXPECT_FALSE(look(clock, 1, 585).out_of_time);
  EXPECT_TRUE(look(clock, 1, 585.1).out_of_time);
}

TEST(SaveCadence, ShortStepsAndSavesLeaveSomeSeconds) {
  RunClock clock({.last_step = 9, .max_minutes = 1}, 0);
  clock.saw_step(0.5);
  clock.saw_save(0.25);
  EXPECT_FALSE(look(clock, 1, 54.25).out_of_time);
  EXPECT_TRUE(look(clock, 1, 54.26).out_of_time);
}

std::string refusal(const Cadence& cadence, double now_s) {
  try {
    const RunClock clock(cadence, now_s);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(SaveCadence, ALimitWithoutTimeForAStepIsRefused) {
  EXPECT_EQ(refusal({.last_step = 9, .max_minutes = 0.5, .expected_save_s = 20}, 0.5),
            "run.max_minutes = "
            "0.5 leaves no time for a step: 0.5 s have gone by until the first one and 30.0 s are set aside "
            "for saving; use well over 0.51, or 0 for no limit");
  EXPECT_EQ(refusal({.last_step = 9, .max_minutes = 0.5, .expected_save_s = 20}, 0), "");
  EXPECT_NE(refusal({.last_step = 9, .max_minutes = 1}, 55.5), "") << "a long start";
  EXPECT_EQ(refusal({.last_step = 9}, 1e9), "") << "no limit";
}

// A run on a clock of its own. Asynchronous: a save goes on behind the steps, and the next one waits for it.
struct Simulated {
  int64_t steps = 0;
  double ended_s = 0;
  RunEnd end = RunEnd::no;
};

Simulated simulate(const Cadence& cadence, double start_s, const std::function<double()>& step_s,
                   const std::function<double()>& save_s) {
  RunClock clock(cadence, start_s);
  double now_s = start_s, committed_s = 0;
  Simulated run;
  bool unseen = false;
  double save_took_s = 0;
  while (run.end == RunEnd::no) {
    const double took_s = step_s();
    now_s += took_s;
    clock.saw_step(took_s);
    ++run.steps;
    if (unseen && committed_s <= now_s) {
      clock.saw_save(save_took_s);
      unseen = false;
    }
    StepSight sight;
    clock.look(run.steps, now_s, committed_s > now_s ? SaveInFlight::yes : SaveInFlight::no, sight);
    const StepDecision decision = decide(run.steps, cadence, facts_of(to_sum(sight)));
    run.end = decision.end;
    if (!decision.save) continue;
    now_s = std::max(now_s, committed_s);
    clock.begin_save(now_s);
    save_took_s = save_s();
    committed_s = now_s + save_took_s;
    unseen = true;
  }
  run.ended_s = std::max(now_s, committed_s);
  return run;
}

// Later steps and saves are up to 1.3 times as long as those seen first, and all end in time; none ends
// while ten times what it needs is left.
TEST(SaveCadence, SimulatedRunsEndBeforeTheirLimit) {
  std::mt19937 random(17);
  for (int trial = 0; trial < 300; ++trial) {
    const auto draw = [&](double first, double last) {
      return std::uniform_real_distribution<double>(first, last)(random);
    };
    const double step_s = draw(0.01, 20), save_s = draw(0.1, 40);
    const Cadence cadence{.last_step = 1000000000,
                          .every_steps = static_cast<int64_t>(draw(0, 8)),
                          .every_minutes = draw(0, 1) < 0.5 ? 0 : draw(0.5, 5),
                          .max_minutes = draw(10, 30),
                          .expected_save_s = save_s};
    const Simulated run = simulate(
        cadence, draw(0, 60), [&] { return step_s * draw(1, 1.3); }, [&] { return save_s * draw(1, 1.3); });
    const double limit_s = cadence.max_minutes * 60;
    EXPECT_EQ(run.end, RunEnd::time_limit);
    EXPECT_LT(run.ended_s, limit_s) << "trial " << trial;
    EXPECT_GT(run.ended_s, limit_s - 10 * (step_s + save_s + RunClock::kLeastSpare_s)) << "trial " << trial;
  }
}

// Started again and again with a limit in which hardly more than a step fits, it gets on.
TEST(SaveCadence, EveryStartDoesAStep) {
  const Cadence cadence{.last_step = 5, .max_minutes = 1, .expected_save_s = 10};
  for (const double step_s : {1.0, 30.0, 59.0, 500.0}) {
    const Simulated run = simulate(
        cadence, 5, [&] { return step_s; }, [] { return 10.0; });
    EXPECT_GE(run.steps, 1) << step_s;
  }
}

}  // namespace
}  // namespace trireme
