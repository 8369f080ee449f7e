// How numbers read.
#include "plan/calculators/worked.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(Worked, NumbersReadAsPeopleWriteThem) {
  EXPECT_EQ(plain(0), "0");
  EXPECT_EQ(plain(8192), "8192");
  EXPECT_EQ(plain(0.4), "0.4");
  EXPECT_EQ(plain(7e9), "7e9");
  EXPECT_EQ(plain(989.4e12), "989.4e12");
  EXPECT_EQ(plain(999999.9999e3), "1e9");
  EXPECT_EQ(plain(3e-4), "3e-4");
  EXPECT_EQ(plain(1e-8), "1e-8");
  EXPECT_EQ(plain(-1.5e-10), "-1.5e-10");
}

TEST(Worked, BytesTimesSharesAndMoney) {
  EXPECT_EQ(as_bytes(112e9), "112 GB");
  EXPECT_EQ(as_bytes(36.507e9), "36.5 GB");
  EXPECT_EQ(as_bytes(48), "48 B");
  EXPECT_EQ(as_bytes(999.97e6), "1 GB");
  EXPECT_EQ(as_percent(0.4), "40.0 %");
  EXPECT_EQ(as_percent(0.9999), "99.990 %");
  EXPECT_EQ(as_percent(0.0001), "0.0100 %");
  EXPECT_EQ(as_duration(45), "45 s");
  EXPECT_EQ(as_duration(90), "1 min 30 s");
  EXPECT_EQ(as_duration(117 * 60 - 7), "1 h 57 min");
  EXPECT_EQ(as_duration(3600), "1 h 0 min");
  EXPECT_EQ(as_duration(460.6 * 3600), "19 days 5 h");
  EXPECT_EQ(as_money(88512, "USD"), "88,512.00 USD");
  EXPECT_EQ(as_money(999.5, "EUR"), "999.50 EUR");
  EXPECT_EQ(as_money(1234567.891, "USD"), "1,234,567.89 USD");
}

}  // namespace
}  // namespace trireme
