// Fields, numbers and days in texts.
#include "base/parse_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/day.h"

namespace trireme {
namespace {

using testing::ElementsAre;

TEST(ParseText, FieldsBetweenSeparators) {
  EXPECT_THAT(split_at(':', "a:bc"), ElementsAre("a", "bc"));
  EXPECT_THAT(split_at(':', ":a::"), ElementsAre("", "a", "", ""));
  EXPECT_THAT(split_at(':', ""), ElementsAre(""));
}

TEST(ParseText, NumbersThatAreNothingElse) {
  EXPECT_EQ(parse_number<int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "1.5", "9223372036854775808"})
    EXPECT_FALSE(parse_number<int64_t>(text)) << text;
  EXPECT_FALSE(parse_number<unsigned>("-1"));
}

TEST(Day, OfTheCalendar) {
  using std::chrono::sys_days;
  EXPECT_EQ(day_named("1970-01-02"), sys_days(std::chrono::days(1)));
  EXPECT_EQ(day_named("2024-02-29"), sys_days(std::chrono::year(2024) / 2 / 29));
  for (const char* text : {"", "2024", "2023-02-29", "2024-13-01", "2024-00-01", "2024-1-011", "2024-01-1",
                           "2024-01-01 ", "2024/01/01", "1969-12-31", "3000-01-01", "2024--1-01"})
    EXPECT_FALSE(day_named(text)) << text;
}

}  // namespace
}  // namespace trireme
