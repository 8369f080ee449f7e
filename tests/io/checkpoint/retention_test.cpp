// What goes after a save: by hand, and for random sets against the rule said another way.
#include "io/checkpoint/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"
#include "scratch_folder.h"

namespace trireme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<CheckpointName> committed(const std::vector<int64_t>& steps) {
  std::vector<CheckpointName> all;
  for (const int64_t step : steps) all.push_back({step, checkpoint_name(step), true});
  return all;
}

std::vector<int64_t> gone(const std::vector<CheckpointName>& all, int64_t saved_step, const Retention& keep,
                          const std::vector<std::string>& pinned = {}) {
  std::vector<int64_t> steps;
  for (const std::string& name : superseded(all, saved_step, keep, pinned)) {
    const auto step = step_of_name(name);
    EXPECT_TRUE(step) << name;
    steps.push_back(step.value_or(-1));
  }
  return steps;
}

TEST(Retention, TheNewestStay) {
  const auto all = committed({5, 1, 3, 2, 4});
  EXPECT_THAT(gone(all, 5, {.newest = 2}), ElementsAre(1, 2, 3));
  EXPECT_THAT(gone(all, 5, {.newest = 5}), IsEmpty());
  EXPECT_THAT(gone(all, 5, {.newest = 1000000}), IsEmpty());
  EXPECT_THAT(gone(all, 5, {}), IsEmpty());
  EXPECT_THAT(gone({}, 5, {.newest = 1}), IsEmpty());
}

TEST(Retention, EveryMthStaysBesides) {
  const auto all = committed({0, 10, 20, 30, 40, 50, 60});
  EXPECT_THAT(gone(all, 60, {.newest = 2, .every_steps = 30}), ElementsAre(10, 20, 40));
  EXPECT_THAT(gone(all, 60, {.newest = 1, .every_steps = 7}), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(gone(all, 60, {.every_steps = 30}), IsEmpty()) << "all are kept";
}

// A run that went back to an earlier checkpoint passes its old steps again.
TEST(Retention, LaterStepsAreNeitherCountedNorTouched) {
  EXPECT_THAT(gone(committed({1, 2, 3, 8, 9}), 3, {.newest = 2}), ElementsAre(1));
}

TEST(Retention, NothingGoesBeforeTheNewOneIsCommitted) {
  auto all = committed({1, 2, 3});
  EXPECT_THAT(gone(all, 4, {.newest = 1}), IsEmpty());
  all.push_back({4, checkpoint_name(4), false});
  EXPECT_THAT(gone(all, 4, {.newest = 1}), IsEmpty());
  all.back().committed = true;
  EXPECT_THAT(gone(all, 4, {.newest = 1}), ElementsAre(1, 2, 3));
}

TEST(Retention, UncommittedOnesAreNeitherCountedNorNamed) {
  auto all = committed({1, 2, 4});
  all.push_back({3, checkpoint_name(3), false});
  EXPECT_THAT(gone(all, 4, {.newest = 2}), ElementsAre(1));
}

TEST(Retention, PinnedOnesStay) {
  const auto all = committed({1, 2, 3, 4});
  EXPECT_THAT(gone(all, 4, {.newest = 2}, {checkpoint_name(1)}), ElementsAre(2)) << "older: besides";
  EXPECT_THAT(gone(all, 4, {.newest = 2}, {checkpoint_name(3)}), ElementsAre(1, 2)) << "newest: among them";
  EXPECT_THAT(gone(all, 4, {.newest = 2}, {checkpoint_name(7)}), ElementsAre(1, 2));
}

TEST(Retention, NineDigitsFollowEight) {
  const auto all = committed({100000001, 99999998, 100000000, 99999999});
  EXPECT_THAT(gone(all, 100000001, {.newest = 2}), ElementsAre(99999998, 99999999));
  EXPECT_EQ(superseded(all, 100000001, {.newest = 1}, {}).back(), "step-100000000");
}

TEST(Retention, ForeignNamesAreNeverNamed) {
  auto all = committed({2, 3});
  all.push_back({1, "step-1", true});
  all.push_back({0, "step-00000000-mine", true});
  EXPECT_THAT(superseded(all, 3, {.newest = 1}, {}), ElementsAre("step-00000002"));
}

TEST(CheckpointNames, OfMoreThanEightDigits) {
  for (const int64_t step : {int64_t{99999999}, int64_t{100000000}, int64_t{123456789012}}) {
    EXPECT_EQ(step_of_name(checkpoint_name(step)), step);
    EXPECT_TRUE(is_leftover(".tmp-" + checkpoint_name(step)));
  }
  EXPECT_EQ(checkpoint_name(100000000), "step-100000000");
  for (const char* name :
       {"step-0100000000", "step-1", "step--0000001", "step-99999999999999999999", "step-"})
    EXPECT_FALSE(step_of_name(name)) << name;

  const test::ScratchFolder folder;
  for (const int64_t step : {100000000, 99999999, 7}) {
    std::filesystem::create_directories(folder / checkpoint_name(step));
    test::spill(folder / (checkpoint_name(step) + "/COMMITTED"), "x");
  }
  std::vector<int64_t> steps;
  for (const CheckpointName& c : list_checkpoints(*open_directory_store(folder.path())))
    steps.push_back(c.step);
  EXPECT_THAT(steps, ElementsAre(7, 99999999, 100000000));
}

// The rule per checkpoint: one goes exactly when `newest` committed ones lie between it and the saved step,
// that step included, and nothing else holds it.
TEST(Retention, RandomSetsFollowTheRule) {
  std::mt19937 random(5);
  const auto draw = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(random);
  };
  int removed = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int64_t base = draw(0, 3) == 0 ? 99999990 : 0;
    std::set<int64_t> steps;
    for (int64_t n = draw(0, 12); n > 0; --n) steps.insert(base + draw(0, 20));
    const int64_t saved = base + draw(0, 20);
    if (draw(0, 3) != 0) steps.insert(saved);
    std::vector<CheckpointName> all;
    std::vector<std::string> pinned;
    for (const int64_t step : steps) {
      all.push_back({step, checkpoint_name(step), draw(0, 4) != 0});
      if (draw(0, 4) == 0) pinned.push_back(checkpoint_name(step));
    }
    all.push_back({saved - 1, "step-of-somebody-else", true});
    std::shuffle(all.begin(), all.end(), random);
    const Retention keep{.newest = draw(0, 5), .every_steps = draw(0, 4)};

    const auto ours = [&](const CheckpointName& c) {
      return c.committed && c.step <= saved && c.name != "step-of-somebody-else";
    };
    const bool saved_stands =
        std::any_of(all.begin(), all.end(), [&](const auto& c) { return ours(c) && c.step == saved; });
    std::set<int64_t> expected;
    for (const CheckpointName& c : all) {
      const auto newer = std::count_if(all.begin(), all.end(),
                                       [&](const auto& other) { return ours(other) && other.step > c.step; });
      const bool divides = keep.every_steps > 0 && c.step % keep.every_steps == 0;
      const bool is_pinned = std::count(pinned.begin(), pinned.end(), c.name) > 0;
      if (saved_stands && ours(c) && keep.newest > 0 && newer >= keep.newest && !divides && !is_pinned)
        expected.insert(c.step);
    }
    const std::vector<int64_t> result = gone(all, saved, keep, pinned);
    EXPECT_TRUE(std::is_sorted(result.begin(), result.end()));
    EXPECT_EQ(std::set<int64_t>(result.begin(), result.end()), expected) << "trial " << trial;
    EXPECT_EQ(result.size(), expected.size());
    removed += static_cast<int>(result.size());
  }
  EXPECT_GT(removed, 300);
}

}  // namespace
}  // namespace trireme
