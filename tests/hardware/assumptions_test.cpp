// Numbers over a hardware file's: the last of each counts, in the file's own units and ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "hardware/read.h"
#include "hardware_text.h"

namespace trireme::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const std::vector<std::string>& assumptions) {
  try {
    parse_hardware(kMachine, "box.toml", assumptions);
  } catch (const UserError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Assumptions, AreOverTheFile) {
  const Hardware file = parse_hardware(kMachine, "box.toml");
  const Hardware h = parse_hardware(kMachine, "box.toml",
                                    {"memory.size=48 GiB", "kernels.unfused=3", "kernels.unfused=1.5"});
  EXPECT_EQ(h.memory_bytes, int64_t{48} << 30);
  EXPECT_EQ(h.kernels.unfused, 1.5);
  EXPECT_THAT(h.assumed, ElementsAre("memory.size = \"48 GiB\" (the file has \"24 GiB\")",
                                     "kernels.unfused = 1.5 (the file has none)"));
  EXPECT_EQ(h.peak, file.peak);
  EXPECT_THAT(file.assumed, testing::IsEmpty());
}

TEST(Assumptions, MayBeWhatTheFileLacks) {
  EXPECT_EQ(parse_hardware(kMachine, "box.toml", {"peak.bf16=400 GFLOP/s"}).peak_of(PeakType::bf16), 400e9);
}

TEST(Assumptions, AreRefusedLikeTheFilesOwn) {
  EXPECT_THAT(refusal_of({"kernels.unfusd=1"}),
              HasSubstr("--assume kernels.unfusd=1: kernels.unfusd is no number of a hardware file; did you "
                        "mean kernels.unfused?"));
  EXPECT_THAT(refusal_of({"name=x"}), HasSubstr("name is no number of a hardware file; it has peak.fp32"));
  EXPECT_THAT(refusal_of({"kernels.unfused"}), HasSubstr("write it like --assume kernels.unfused=1"));
  EXPECT_THAT(refusal_of({"kernels.unfused=0.5"}),
              HasSubstr("--assume: kernels.unfused = 0.5 is out of range; it is at least 1"));
  EXPECT_THAT(refusal_of({"memory.bandwidth=4"}), HasSubstr("write it like \"450 GB/s\""));
  EXPECT_THAT(refusal_of({"node.devices=2.5"}), HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal_of({"memory.size=100 MB"}), HasSubstr("leaves nothing of memory.size"));
}

}  // namespace
}  // namespace trireme::test
