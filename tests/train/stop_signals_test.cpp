// What signals ask of a run. Each case is a process of its own, started anew: there every thread is one that
// StopSignals was made before.
#include "train/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace trireme {
namespace {

constexpr int kAsExpected = 42;

bool comes(const std::function<bool()>& expected) {
  for (int i = 0; i < 5000 && !expected(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return expected();
}

// Sends each once the one before has been counted; ends with kAsExpected if all of them asked, in vain for
// more.
[[noreturn]] void send_to_self(const std::vector<int>& signals) {
  const StopSignals stop;
  bool right = stop.stop_requested() == 0 && stop.requests() == 0;
  int sent = 0;
  for (const int signal : signals) {
    ++sent;
    kill(getpid(), signal);
    right = right && comes([&] { return stop.requests() == sent; });
  }
  _exit(right && stop.stop_requested() == signals.front() ? kAsExpected : 1);
}

class StopSignalsDeathTest : public testing::Test {
 protected:
  StopSignalsDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(StopSignalsDeathTest, EachAsksToStop) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1})
    EXPECT_EXIT(send_to_self({signal}), testing::ExitedWithCode(kAsExpected), "") << signal;
}

TEST_F(StopSignalsDeathTest, RepeatedOnesOnlyAskAgain) {
  EXPECT_EXIT(send_to_self({SIGTERM, SIGTERM, SIGTERM}), testing::ExitedWithCode(kAsExpected), "");
  EXPECT_EXIT(send_to_self({SIGUSR1, SIGTERM, SIGUSR1}), testing::ExitedWithCode(kAsExpected), "");
  EXPECT_EXIT(send_to_self({SIGTERM, SIGINT}), testing::ExitedWithCode(kAsExpected), "");
  EXPECT_EXIT(send_to_self({SIGINT, SIGTERM}), testing::ExitedWithCode(kAsExpected), "");
}

TEST_F(StopSignalsDeathTest, ASecondCtrlCEndsAtOnce) {
  EXPECT_EXIT(send_to_self({SIGINT, SIGINT}), testing::ExitedWithCode(128 + SIGINT), "");
  EXPECT_EXIT(send_to_self({SIGINT, SIGTERM, SIGINT}), testing::ExitedWithCode(128 + SIGINT), "");
}

TEST_F(StopSignalsDeathTest, AfterwardsSignalsEndTheProcessAgain) {
  const auto after = [] {
    { const StopSignals stop; }
    kill(getpid(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(5));
    _exit(1);
  };
  EXPECT_EXIT(after(), testing::KilledBySignal(SIGTERM), "");
}

TEST_F(StopSignalsDeathTest, ButNotOnceOneHasAsked) {
  const auto after = [] {
    {
      const StopSignals stop;
      kill(getpid(), SIGTERM);
      if (!comes([&] { return stop.requests() == 1; })) _exit(1);
    }
    kill(getpid(), SIGTERM);
    _exit(kAsExpected);
  };
  EXPECT_EXIT(after(), testing::ExitedWithCode(kAsExpected), "");
}

}  // namespace
}  // namespace trireme
