// The reference model's memory: GPT-2 124M at T = 1024, micro-batch 4, in bf16 trains in less than 4 GB
// without recompute.
#include <gtest/gtest.h>

#include "compile/compile.h"
#include "compile/memory_report.h"

namespace trireme {
namespace {

TEST(Gpt2Memory, TrainsInLessThanFourGigabytes) {
  const RunSpec spec = parse_config(R"(
[model]
preset = "gpt2-124m"
[data]
train = ["none"]
seq_len = 1024
[batch]
sequences = 32
micro = 4
[optimizer]
lr = 6e-4
[run]
name = "memory"
steps = 1
)",
                                    "memory");
  const Compiled compiled = compile(spec, {.threads = 2});
  EXPECT_EQ(parameter_count(compiled.model), 124439808);
  EXPECT_LT(compiled.program.memory.arena_bytes, 4'000'000'000);
  EXPECT_LE(memory_peak(compiled.program).total(), compiled.program.memory.arena_bytes);
}

}  // namespace
}  // namespace trireme
