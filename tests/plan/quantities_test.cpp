// Numbers of the planner's reports.
#include "plan/quantities.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Quantities, ReadAsPeopleWriteThem) {
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(1024, "rank"), "1,024 ranks");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(bytes_text(42'630'000'000), "42.63 GB");
  EXPECT_EQ(bytes_text(8'100'000), "8.10 MB");
  EXPECT_EQ(bytes_text(-512), "-512 bytes");
  EXPECT_EQ(seconds_text(1.239), "1.24 s");
  EXPECT_EQ(seconds_text(0.31), "310 ms");
  EXPECT_EQ(seconds_text(48e-6), "48 us");
  EXPECT_EQ(seconds_text(0), "0");
  EXPECT_EQ(seconds_text(1.2394, 4), "1.239 s");
  EXPECT_EQ(change_percent(0.9), "-10.0 %");
}

}  // namespace
}  // namespace trireme
