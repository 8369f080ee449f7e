// The reference model's memory: GPT-2 124M at T = 1024, micro-batch 4, in bf16 trains in less than 4 GB
// without recompute, also when it accumulates: the tied embedding then has two accumulators beside the
// activations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "compile/memory_report.h"

namespace trireme {
namespace {

int64_t arena_bytes(int64_t sequences, bool async) {
  const RunSpec spec = parse_config(fmt::format(R"(
[model]
preset = "gpt2-124m"
[data]
train = ["none"]
seq_len = 1024
[batch]
sequences = {}
micro = 4
[optimizer]
lr = 6e-4
[checkpoint]
async = {}
[run]
name = "memory"
steps = 1
)",
                                                sequences, async),
                                    "memory");
  const Compiled compiled = compile(spec, {.threads = 2});
  EXPECT_EQ(parameter_count(compiled.model), 124439808);
  EXPECT_LE(memory_peak(compiled.program).total(), compiled.program.memory.arena_bytes);
  return compiled.program.memory.arena_bytes;
}

TEST(Gpt2Memory, TrainsInLessThanFourGigabytes) {
  EXPECT_LT(arena_bytes(4, false), 4'000'000'000);
  EXPECT_LT(arena_bytes(32, false), 4'000'000'000);
}

// A copy of weights and moments, beside all else.
TEST(Gpt2Memory, CheckpointsBehindTheStepsTakeTwelveBytesPerParameter) {
  EXPECT_EQ(arena_bytes(4, true) - arena_bytes(4, false), 12 * 124439808);
}

}  // namespace
}  // namespace trireme
