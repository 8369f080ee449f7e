// Numbers as people write them, and what is no such number.
#include "plan/calculators/human_number.h"

#include <gtest/gtest.h>

#include "plan/message.h"

namespace trireme {
namespace {

TEST(HumanNumber, CountsHaveSuffixes) {
  EXPECT_EQ(read_number("--params", "7B"), 7e9);
  EXPECT_EQ(read_number("--params", "7e9"), 7e9);
  EXPECT_EQ(read_number("--params", "1.5 T"), 1.5e12);
  EXPECT_EQ(read_number("--params", "124M"), 124e6);
  EXPECT_EQ(read_number("--params", "8192"), 8192);
  EXPECT_EQ(read_whole("--seq", "8K"), 8000);
  EXPECT_EQ(read_flops_per_s("--peak", "989T"), 989e12);
  EXPECT_EQ(read_flops_per_s("--peak", "989.4 TFLOP/s"), 989.4e12);
  EXPECT_EQ(message_of([] { read_flops_per_s("--peak", "989"); }),
            "--peak 989: no device has so few FLOP/s; write 989T, if it is TFLOP/s");
}

TEST(HumanNumber, SharesSizesAndTimes) {
  EXPECT_EQ(read_share("--mfu", "40%"), 0.4);
  EXPECT_EQ(read_share("--mfu", "40 %"), 0.4);
  EXPECT_EQ(read_share("--mfu", "0.4"), 0.4);
  EXPECT_EQ(read_bytes("--memory", "80GB"), 80e9);
  EXPECT_EQ(read_bytes("--memory", "80GiB"), 80.0 * (1 << 30));
  EXPECT_EQ(read_bytes("--memory", "1024"), 1024);
  EXPECT_EQ(read_duration("--save", "90s"), 90);
  EXPECT_EQ(read_duration("--save", "1.5 min"), 90);
  EXPECT_EQ(read_duration("--mtbf", "50000h"), 1.8e8);
  EXPECT_EQ(read_duration("--mtbf", "3d"), 3 * 86400);
  EXPECT_EQ(read_duration("--restart", "0s", Zero::allowed), 0);
}

struct Refused {
  const char* text;
  const char* message;
};

TEST(HumanNumber, RefusesWhatIsNone) {
  const char* cure = "; write 7B, 7e9 or 7000000000";
  const Refused cases[] = {{"many", "--params many: that is no number"},
                           {"", "--params \"\": that is no number"},
                           {"7X", "--params 7X: X is no unit that it has"},
                           {"7BB", "--params 7BB: BB is no unit that it has"},
                           {"-7B", "--params -7B: it must not be negative"},
                           {"0", "--params 0: it must be more than 0"},
                           {"nan", "--params nan: NaN is no number"},
                           {"inf", "--params inf: too large, at most 1e+20"},
                           {"1e999", "--params 1e999: too large, at most 1e+20"},
                           {"1e31", "--params 1e31: too large, at most 1e+20"}};
  for (const Refused& refused : cases)
    EXPECT_EQ(message_of([&] { read_number("--params", refused.text); }),
              std::string(refused.message) + cure);
  EXPECT_EQ(message_of([] { read_whole("--gpus", "1.5"); }), "--gpus 1.5: it must be a whole number");
  EXPECT_EQ(message_of([] { read_whole("--gpus", "0"); }),
            "--gpus 0: it must be more than 0; write 8, 8192 or 8K");
  EXPECT_EQ(message_of([] { read_whole("--gpus", "2T", 1000); }), "--gpus 2T: too large, at most 1000");
}

TEST(HumanNumber, RefusesSharesSizesAndTimesWithTheirCure) {
  EXPECT_EQ(message_of([] { read_share("--mfu", "40"); }),
            "--mfu 40: more than 1, which is 100 %; write 40% or 0.4");
  EXPECT_EQ(message_of([] { read_share("--mfu", "140%"); }),
            "--mfu 140%: more than 100 % of the peak is impossible; write 40% or 0.4");
  EXPECT_EQ(message_of([] { read_bytes("--memory", "80Gb"); }),
            "--memory 80Gb: Gb is no unit that it has; write 80GB (of 1e9), 80GiB (of 2^30) or bytes");
  EXPECT_EQ(message_of([] { read_duration("--save", "30"); }),
            "--save 30: it needs a unit; write 90s, 30min, 2h, 3d or 1y");
  EXPECT_EQ(message_of([] { read_duration("--mtbf", "1e14s"); }),
            "--mtbf 1e14s: too large, at most 1e+13; write 90s, 30min, 2h, 3d or 1y");
  EXPECT_EQ(message_of([] { read_duration("--save", "0s"); }),
            "--save 0s: it must be more than 0; write 90s, 30min, 2h, 3d or 1y");
}

}  // namespace
}  // namespace trireme
