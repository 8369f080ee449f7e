// What one rank meets, all ranks feel: an exception ends the run with its own kind, a NaN makes all skip the
// step.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "dist/layout_run.h"

namespace trireme {
namespace {

using test::expect_same;
using test::Layout;
using test::name_of;
using test::run_layout;
using test::Trace;

const Layout kLayouts[] = {{.replicate = 4},
                           {.shard = 4, .zero = 1},
                           {.shard = 4, .zero = 3},
                           {.pp = 4},
                           {.pp = 4, .schedule = "dualpipe"},
                           {.shard = 2, .zero = 2, .pp = 2, .schedule = "zb_h1"}};

TEST(Failure, ARankThatThrowsBringsTheOthersDown) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    const auto start = std::chrono::steady_clock::now();
    const auto before = [](const RankLink& link, Engine&, int64_t step) {
      if (link.rank() == 2 && step == 1) fail_user("shard 7 is broken");
    };
    try {
      run_layout({}, layout, {0, 10, before});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(), "shard 7 is broken");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << "before any timeout";
  }
}

// A rank that hangs outside every collective: the others give it up, and the process ends all the same.
TEST(FailureDeathTest, ARankThatHangsEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto hangs = [](RankLink& link) {
    if (link.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(60));
    link.meet("the end of a step");
    return 0;
  };
  EXPECT_EXIT(run_ranks({.mesh = {.dp_replicate = 3}, .timeout_s = 1}, hangs), testing::ExitedWithCode(3),
              "rank 1 (failed: )?did not come to barrier of the end of a step within 1.0 s");
}

// One rank's first weights become NaN for one step.
TEST(Failure, ANaNOnOneRankMakesAllSkipTheStep) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(name_of(layout));
    const Trace undisturbed = run_layout({}, layout, {0, 2, {}});
    std::vector<float> kept(1);
    const auto before = [&](const RankLink& link, Engine& engine, int64_t step) {
      if (link.rank() != 1 || step > 3) return;
      for (size_t i = 0; i < engine.program().params.size(); ++i) {
        // One that every micro-batch reads: a token's row may not be looked up.
        if (!engine.program().params[i].name.starts_with("layers.")) continue;
        const auto pieces = engine.state_pieces(ParamId(static_cast<int64_t>(i)), ParamState::master);
        if (pieces.empty()) continue;
        float& value = pieces[0].values[0];
        if (step == 2) kept[0] = value;
        if (step >= 2) value = step == 2 ? std::numeric_limits<float>::quiet_NaN() : kept[0];
        return;
      }
    };
    Trace trace = run_layout({}, layout, {0, 4, before});
    EXPECT_EQ(trace.skipped, (std::vector<bool>{false, false, true, false}));
    EXPECT_TRUE(std::isnan(trace.grad_norm[2]));
    // Step 3 goes on from the weights after step 1, on every rank: a run without step 2 gives the same.
    const Trace rest = run_layout({}, layout, {3, 4, {}}, &undisturbed);
    EXPECT_EQ(trace.loss[3], rest.loss[0]);
    EXPECT_EQ(trace.grad_norm[3], rest.grad_norm[0]);
    EXPECT_TRUE(trace.state == rest.state);
  }
}

}  // namespace
}  // namespace trireme
