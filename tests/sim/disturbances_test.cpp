// What is done to a run, read from text; what is refused.
#include "sim/disturbances.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme {
namespace {

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string slow_refusal(const std::string& text) {
  return refusal([&] { parse_slow(text, 16); });
}
std::string link_refusal(const std::string& text) {
  Disturbance disturbance;
  return refusal([&] { parse_link(text, disturbance); });
}
std::string failure_refusal(const std::string& text) {
  return refusal([&] { parse_failure(text, 1000, 16); });
}

TEST(Disturbances, ASlowRank) {
  const SlowRank slow = parse_slow("rank=3:1.3x", 16);
  EXPECT_EQ(slow.rank, 3);
  EXPECT_EQ(slow.factor, 1.3);
}

TEST(Disturbances, LinksByTheirBandwidth) {
  Disturbance disturbance;
  parse_link("between:0.5x", disturbance);
  EXPECT_EQ(disturbance.between_slower, 2);
  EXPECT_EQ(disturbance.inside_slower, 1);
  parse_link("inside:0.25x", disturbance);
  EXPECT_EQ(disturbance.inside_slower, 4);
}

TEST(Disturbances, AFailure) {
  const RunFailure failure = parse_failure("step=120:rank=7:restart=300s", 1000, 16);
  EXPECT_EQ(failure.step, 120);
  EXPECT_EQ(failure.restart_s, 300);
  EXPECT_EQ(failure.rank, 7);
  EXPECT_FALSE(parse_failure("step=1", 1000, 16).rank.has_value());
}

TEST(Disturbances, RefusedWithTheCure) {
  EXPECT_EQ(slow_refusal("rank=16:1.3x"),
            "--slow rank=16:1.3x: rank 16 is none of the run's 16, which are 0 to 15");
  EXPECT_EQ(slow_refusal("rank=-1:2x"),
            "--slow rank=-1:2x: rank -1 is none of the run's 16, which are 0 to 15");
  EXPECT_EQ(slow_refusal("rank=3:0x"), "--slow rank=3:0x: the factor 0x must be from 0.001 to 1000");
  EXPECT_EQ(slow_refusal("rank=3:-1x"), "--slow rank=3:-1x: the factor -1x must be from 0.001 to 1000");
  EXPECT_EQ(slow_refusal("rank=3:nanx"), "--slow rank=3:nanx: the factor nanx must be from 0.001 to 1000");
  EXPECT_EQ(slow_refusal("rank=3:infx"), "--slow rank=3:infx: the factor infx must be from 0.001 to 1000");
  EXPECT_EQ(slow_refusal("rank=3:1.3"), "--slow rank=3:1.3: 1.3 is no factor; write it as 1.3x");
  EXPECT_EQ(slow_refusal("rank=3:fastx"), "--slow rank=3:fastx: fastx is no factor; write it as 1.3x");
  EXPECT_EQ(slow_refusal("3:1.3x"), "--slow 3:1.3x: write it as rank=3:1.3x");
  EXPECT_EQ(slow_refusal(""), "--slow : write it as rank=3:1.3x");
  EXPECT_EQ(slow_refusal("rank=3:1.3x:more"), "--slow rank=3:1.3x:more: write it as rank=3:1.3x");
  EXPECT_EQ(link_refusal("betwen:0.5x"),
            "--link betwen:0.5x: there are links inside a node and between nodes, but none betwen; write "
            "between:0.5x");
  EXPECT_EQ(link_refusal("insid:0.5x"),
            "--link insid:0.5x: there are links inside a node and between nodes, but none insid; write "
            "inside:0.5x");
  EXPECT_EQ(link_refusal("between:0x"), "--link between:0x: the factor 0x must be from 0.001 to 1000");
  EXPECT_EQ(link_refusal("between"), "--link between: write it as between:0.5x or inside:0.5x");
  EXPECT_EQ(failure_refusal("step=1001"),
            "--fail step=1001: step 1001 is none of the run's, which are 1 to 1000 (run.steps)");
  EXPECT_EQ(failure_refusal("step=0"),
            "--fail step=0: step 0 is none of the run's, which are 1 to 1000 (run.steps)");
  EXPECT_EQ(failure_refusal("step=2:rank=99"),
            "--fail step=2:rank=99: rank 99 is none of the run's 16, which are 0 to 15");
  EXPECT_EQ(failure_refusal("step=2:restart=-1s"),
            "--fail step=2:restart=-1s: a restart of -1s must be from 0s to 10000000s");
  EXPECT_EQ(failure_refusal("step=2:restart=nans"),
            "--fail step=2:restart=nans: a restart of nans must be from 0s to 10000000s");
  EXPECT_EQ(failure_refusal("restart=5s"),
            "--fail restart=5s: at which step? Write it as step=120:restart=300s");
  EXPECT_EQ(failure_refusal("step=1:step=2"),
            "--fail step=1:step=2: step is given twice; write a --fail for each failure");
  EXPECT_EQ(failure_refusal("step=2:restart=5"),
            "--fail step=2:restart=5: restart=5 is not known; write it as step=120:restart=300s or "
            "step=120:rank=7:restart=300s");
}

}  // namespace
}  // namespace trireme
