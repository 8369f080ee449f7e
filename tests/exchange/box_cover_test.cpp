// Tilings and what is none, against counting every element.
#include "exchange/box_cover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trireme {
namespace {
using testing::HasSubstr;
using testing::Optional;

bool covers_by_counting(int64_t rows, int64_t columns, const std::vector<Box>& boxes) {
  std::vector<int> times(static_cast<size_t>(rows * columns));
  for (const Box& box : boxes)
    for (int64_t r = box.offset[0]; r < box.offset[0] + box.shape[0]; ++r)
      for (int64_t c = box.offset[1]; c < box.offset[1] + box.shape[1]; ++c)
        ++times[static_cast<size_t>(r * columns + c)];
  return std::all_of(times.begin(), times.end(), [](int t) { return t == 1; });
}

TEST(BoxCover, WholeTensors) {
  EXPECT_FALSE(cover_fault({2, 3}, std::vector<Box>{{{0, 0}, {2, 3}}}));
  EXPECT_FALSE(cover_fault({}, std::vector<Box>{{{}, {}}}));
  EXPECT_FALSE(cover_fault({0, 4}, std::vector<Box>{}));
  EXPECT_FALSE(cover_fault({0, 4}, std::vector<Box>{{{0, 0}, {0, 4}}}));
  EXPECT_THAT(cover_fault({}, std::vector<Box>{}), Optional(HasSubstr("a hole")));
  EXPECT_THAT(cover_fault({}, std::vector<Box>{{{}, {}}, {{}, {}}}), Optional(HasSubstr("overlap")));
  EXPECT_THAT(cover_fault({2}, std::vector<Box>{}), Optional(HasSubstr("a hole")));
}

// A hole and an overlap of the same size have the right sum.
TEST(BoxCover, HolesAndOverlaps) {
  EXPECT_FALSE(cover_fault({4}, std::vector<Box>{{{2}, {2}}, {{0}, {2}}}));
  EXPECT_TRUE(cover_fault({4}, std::vector<Box>{{{1}, {2}}, {{0}, {2}}}));
  EXPECT_TRUE(cover_fault({2, 2}, std::vector<Box>{{{0, 0}, {1, 2}}, {{0, 1}, {2, 1}}}));
  EXPECT_FALSE(cover_fault({4}, std::vector<Box>{{{0}, {4}}, {{4}, {0}}, {{1}, {0}}}));
}

TEST(BoxCover, PiecesOutsideAreRefused) {
  EXPECT_THAT(cover_fault({4}, std::vector<Box>{{{2}, {3}}}), Optional(HasSubstr("the piece [3] at [2]")));
  EXPECT_TRUE(cover_fault({4}, std::vector<Box>{{{-1}, {5}}}));
  EXPECT_TRUE(cover_fault({4}, std::vector<Box>{{{INT64_MAX}, {INT64_MAX}}}));
  EXPECT_TRUE(cover_fault({4}, std::vector<Box>{{{0, 0}, {4, 1}}}));
  EXPECT_THAT(cover_fault({2, 2, 2, 2, 2}, std::vector<Box>(1, {{0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}})),
              Optional(HasSubstr("along 5 dims")));
  EXPECT_THAT(cover_fault({4}, std::vector<Box>(70000, {{0}, {4}})), Optional(HasSubstr("70000 pieces")));
}

TEST(BoxCover, AgreesWithCounting) {
  std::mt19937 random(1);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  int covered = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<Box> boxes;
    const int64_t cut = below(4), left = below(4), right = below(4);
    boxes.push_back({{0, 0}, {left, cut}});
    boxes.push_back({{left, 0}, {3 - left, cut}});
    boxes.push_back({{0, cut}, {right, 3 - cut}});
    boxes.push_back({{right, cut}, {3 - right, 3 - cut}});
    if (below(2) == 0) boxes[static_cast<size_t>(below(4))].offset[static_cast<size_t>(below(2))] = below(2);
    if (below(2) == 0) boxes[static_cast<size_t>(below(4))].shape[static_cast<size_t>(below(2))] = below(4);
    bool inside = true;
    for (const Box& box : boxes)
      for (size_t d = 0; d < 2; ++d) inside &= box.offset[d] + box.shape[d] <= 3;
    const bool right_answer = inside && covers_by_counting(3, 3, boxes);
    ASSERT_EQ(!cover_fault({3, 3}, boxes), right_answer) << i;
    covered += right_answer ? 1 : 0;
  }
  EXPECT_GT(covered, 1000);
}

}  // namespace
}  // namespace trireme
