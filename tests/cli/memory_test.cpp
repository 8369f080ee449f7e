// What a run holds: its plan and little more, and no more later than sooner. TRIREME_MEMORY_STEPS (400) says
// how late.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

constexpr int64_t kMegabyte = 1'000'000;

// Waits until step `step` stands in the metrics.
bool wait_for_step(const TinyRun& tiny, Process& process, int64_t step) {
  while (process.running()) {
    const std::string text = test::slurp(tiny.run_folder("tiny") + "/metrics.jsonl");
    if (text.find("{\"step\":" + std::to_string(step) + ",") != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(Memory, IsTheSameAfterManyStepsSavesAndEvaluations) {
  if (kSanitized) GTEST_SKIP() << "most of what is resident is the sanitizer's";
  const char* text = std::getenv("TRIREME_MEMORY_STEPS");
  const int64_t last = text != nullptr ? std::atoll(text) : 400, first = std::min<int64_t>(last / 4, 200);
  const TinyRun tiny;
  Process process(TinyRun::train_arguments({{"run.steps", std::to_string(last + 1000)},
                                            {"lr.kind", "constant"},
                                            {"checkpoint.every_steps", "50"},
                                            {"eval.every_steps", "50"},
                                            {"run.log_every_steps", "100"}}),
                  tiny.path());
  ASSERT_TRUE(wait_for_step(tiny, process, first));
  const int64_t early = process.resident_bytes(), early_files = process.open_files();
  ASSERT_TRUE(wait_for_step(tiny, process, last));
  const int64_t late = process.resident_bytes(), late_files = process.open_files();
  std::printf("step %lld: %.1f MB, %lld files; step %lld: %.1f MB, %lld files\n",
              static_cast<long long>(first), static_cast<double>(early) / 1e6,
              static_cast<long long>(early_files), static_cast<long long>(last),
              static_cast<double>(late) / 1e6, static_cast<long long>(late_files));
  EXPECT_LE(static_cast<double>(late), 1.02 * static_cast<double>(early));
  // A save or a shard may be open at the moment of either look.
  EXPECT_NEAR(static_cast<double>(late_files), static_cast<double>(early_files), 2);
}

// That the run's log says it allocates, of one arena.
double planned_bytes(const std::string& log) {
  const std::string lead = "one arena of ";
  const size_t at = log.find(lead);
  return at == std::string::npos ? 0 : std::stod(log.substr(at + lead.size()));
}

TEST(Memory, OfARunIsThePlanAndLittleMore) {
  if (kSanitized) GTEST_SKIP() << "most of what is resident is the sanitizer's";
  const TinyRun tiny;
  Process process(TinyRun::train_arguments({{"model.layers", "6"},
                                            {"model.width", "256"},
                                            {"run.steps", "1000"},
                                            {"checkpoint.every_steps", "2"},
                                            {"eval.every_steps", "2"}}),
                  tiny.path());
  ASSERT_TRUE(wait_for_step(tiny, process, 5));
  const int64_t peak = process.peak_resident_bytes();
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  ASSERT_EQ(outcome.exit_code, 75) << outcome.err;
  const double planned = planned_bytes(outcome.err);
  std::printf("planned %.1f MB, peak resident %.1f MB\n", planned / 1e6, static_cast<double>(peak) / 1e6);
  EXPECT_GT(planned, 50e6);
  EXPECT_LE(static_cast<double>(peak), planned + static_cast<double>(60 * kMegabyte));
}

}  // namespace
}  // namespace trireme
