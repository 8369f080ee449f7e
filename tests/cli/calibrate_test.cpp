// `trireme calibrate`: what it refuses before it measures, leaving nothing behind; and a small calibration.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

void expect_refused(const TinyRun& tiny, const Arguments& arguments, int exit_code,
                    const std::string& words) {
  const std::vector<std::string> before = names_in(tiny.path());
  const Outcome outcome = tiny.run(arguments);
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  EXPECT_EQ(names_in(tiny.path()), before);
}

TEST(Calibrate, RefusesBeforeItMeasures) {
  const TinyRun tiny;
  write_bytes(tiny / "mine.toml", "name = \"kept\"\n");
  expect_refused(tiny, {"calibrate", "--out", "other.toml", "--threads", "1000000"}, 2,
                 "--threads 1000000: this process may use");
  expect_refused(tiny, {"calibrate", "--out", "mine.toml"}, 2, "mine.toml");
  expect_refused(tiny, {"calibrate", "--out", "mine.toml/new.toml"}, 3, "mine.toml");
}

TEST(Calibrate, WritesOneFile) {
  if (kSanitized) GTEST_SKIP() << "measuring takes minutes";
  const TinyRun tiny;
  std::vector<std::string> names = names_in(tiny.path());
  const Outcome outcome = tiny.run({"calibrate", "--quick", "--threads", "1", "--out", "mine.toml"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("mine.toml: 1 cores"), std::string::npos) << outcome.out;
  names.emplace_back("mine.toml");
  std::ranges::sort(names);
  EXPECT_EQ(names_in(tiny.path()), names);
}

}  // namespace
}  // namespace trireme
