// What recomputation takes from memory and what it costs in FLOPs, by the Programs.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/flops_report.h"
#include "compile/specs.h"
#include "model/flops.h"
#include "ops/op.h"

namespace trireme::test {
namespace {

constexpr int64_t kB = 2, kT = 32, kC = 64, kF = 4 * kC, kHeads = 4, kMicroBatches = 2, kLayers = 2;

Compiled compiled(const Form& form, const std::string& recompute) {
  RunSpec spec = spec_of(form);
  if (recompute == "selective") spec.parallel.recompute = RecomputeKind::selective;
  if (recompute == "full") spec.parallel.recompute = RecomputeKind::full;
  return compile(spec, {.threads = 1});
}

CodeId code_of(const Program& program, const std::string& block) {
  for (const Unit& unit : program.units)
    if (unit.name == block) return unit.code;
  ADD_FAILURE() << "no block " << block;
  return {};
}

int64_t saved_bytes(const Form& form, const std::string& recompute, const std::string& block = "layers.1") {
  const Program program = compiled(form, recompute).program;
  return program.layouts[static_cast<size_t>(code_of(program, block).index)].saved_bytes;
}

// bf16 rows of so many elements for each token, and f32 ones.
int64_t rows(int64_t bf16, int64_t f32) { return kB * kT * (2 * bf16 + 4 * f32); }

// gpt2: two norms with mean and rstd, qkv, attention and its lse, the sum in the middle, the feed-forward
// part before and behind its activation. Selective has what the middle sum is made of instead of it.
TEST(RecomputeMemory, OfAPlainLayer) {
  const Form form{.family = "gpt2"};
  EXPECT_EQ(saved_bytes(form, "none"), rows(2 * kC + 3 * kC + kC + kC + 2 * kF, 4 + kHeads));
  EXPECT_EQ(saved_bytes(form, "selective"), rows(3 * kC + kC + kC + kF, kHeads));
  EXPECT_EQ(saved_bytes(form, "full"), 0);
}

// llama: what the heads' norms read and what attention reads are both kept, with selective the first alone.
TEST(RecomputeMemory, OfAGatedLayer) {
  Form form{.family = "llama", .more = "qk_norm = true\nffn = 192"};
  const int64_t f = 192, stats = 2 * kHeads;  // of the heads' norms
  EXPECT_EQ(saved_bytes(form, "none"), rows(2 * kC + 2 * 3 * kC + kC + kC + 3 * f, 2 + stats + kHeads));
  EXPECT_EQ(saved_bytes(form, "selective"), rows(3 * kC + kC + kC + 2 * f, kHeads));
  EXPECT_EQ(saved_bytes(form, "full"), 0);
  form.more = "ffn = 192";  // the product that rotations read would have to be kept in their place
  EXPECT_EQ(saved_bytes(form, "none"), rows(2 * kC + 3 * kC + kC + kC + 3 * f, 2 + kHeads));
  EXPECT_EQ(saved_bytes(form, "selective"), rows(3 * kC + kC + kC + 2 * f, kHeads));
}

TEST(RecomputeMemory, OfALayerWithExperts) {
  const Form form{.family = "llama",
                  .more = "[moe]\nexperts = 4\ntop_k = 2\nexpert_ffn = 64\nshared_ffn = 64\naux_loss = 0.01"};
  EXPECT_LT(saved_bytes(form, "selective"), saved_bytes(form, "none"));
  EXPECT_EQ(saved_bytes(form, "full"), 0);
}

// Embedding and head are what they were.
TEST(RecomputeMemory, OfOtherBlocksStays) {
  for (const char* family : {"gpt2", "llama"})
    for (const char* block : {"embed", "head"})
      for (const char* recompute : {"selective", "full"})
        EXPECT_EQ(saved_bytes({.family = family}, recompute, block),
                  saved_bytes({.family = family}, "none", block));
}

// Of a forward but its last two ops: the product that a layer ends in and the sum behind it.
int64_t flops_needed_again(const Code& code) {
  int64_t flops = 0;
  for (size_t i = 0; i + 2 < code.forward.size(); ++i)
    flops += op_def(code.forward[i].kind).cost(signature(code.forward[i], code.values)).flops;
  return flops;
}

int64_t flops_of(const Program& program) { return program_flops(program, *find_timeline(program, "train")); }

TEST(RecomputeFlops, FullIsAForwardWithoutItsLastProduct) {
  for (const char* family : {"gpt2", "llama"}) {
    const Form form{.family = family};
    const Program none = compiled(form, "none").program, full = compiled(form, "full").program;
    const Code& layer = none.code(code_of(none, "layers.0"));
    EXPECT_EQ(flops_of(full) - flops_of(none), kMicroBatches * kLayers * flops_needed_again(layer));
  }
}

TEST(RecomputeFlops, SelectiveIsNormsAndActivationsAlone) {
  const Program none = compiled({.family = "gpt2"}, "none").program,
                selective = compiled({.family = "gpt2"}, "selective").program;
  const int64_t norm = 8 * kC, sum_and_norm = 9 * kC, gelu = 8 * kF;
  EXPECT_EQ(flops_of(selective) - flops_of(none),
            kMicroBatches * kLayers * kB * kT * (norm + sum_and_norm + gelu));
}

// The program's FLOPs are the products' 6 per weight and token, and little else: attention's of the pairs
// that are visible, twice forward and five times back (Dao et al. 2022), and at most 100 per element of a
// token's activations.
TEST(ProgramFlops, AreTheProductsAndLittleElse) {
  const Form form{.family = "gpt2"};
  const Compiled none = compiled(form, "none");
  const RunSpec spec = spec_of(form);
  const int64_t tokens = kMicroBatches * kB * kT;
  const int64_t products = 6 * matmul_parameters(spec.model, none.model) * tokens;
  const int64_t attention = 7 * 2 * kLayers * kC * kMicroBatches * kB * kT * (kT + 1) / 2;
  const int64_t rest = flops_of(none.program) - products - attention;
  EXPECT_GE(rest, 0);
  EXPECT_LE(rest, 100 * tokens * (kLayers * (8 * kC + 2 * kF) + spec.model.vocab));
}

// Of a pipeline's ranks, and of data-parallel ones, together the same as of one.
TEST(ProgramFlops, OfAllRanksAreThoseOfOne) {
  RunSpec spec = spec_of({.family = "gpt2", .layers = 4});
  const int64_t one = flops_of(compile(spec, {.threads = 1}).program);
  spec.parallel.pp = 2;
  spec.parallel.dp_replicate = spec.batch.lanes = 2;
  int64_t sum = 0;
  for (int rank = 0; rank < 4; ++rank) sum += flops_of(compile(spec, {.rank = rank, .threads = 1}).program);
  EXPECT_EQ(sum, one);
}

}  // namespace
}  // namespace trireme::test
