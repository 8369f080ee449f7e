// Gradients of tables where many positions share a row.
#include <gtest/gtest.h>

#include "device/cpu/kernel.h"
#include "ops/embedding/embedding.h"
#include "ops/positions/positions.h"

namespace trireme {
namespace {

// Runs `sig` on `threads` threads into the accumulator `table`.
void accumulate(const OpSig& sig, std::vector<void*> inputs, std::vector<float>& table, int threads) {
  void* outputs[] = {table.data()};
  find_cpu_kernel(sig.kind)(sig, {.threads = threads, .isa = detect_isa()})({inputs, outputs, nullptr});
}

TEST(EmbeddingGrad, RepeatedIdsAddUpInOrderOnAnyNumberOfThreads) {
  constexpr int64_t kRows = 100, kWidth = 200, kVocab = 3;
  std::vector<int32_t> tokens(kRows);
  std::vector<float> dy(kRows * kWidth);
  for (size_t i = 0; i < dy.size(); ++i) dy[i] = 1.0f / static_cast<float>(i + 3);
  for (size_t r = 0; r < kRows; ++r) tokens[r] = r % 10 == 0 ? 2 : 0;
  std::vector<float> want(kVocab * kWidth, 0.25f);
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kWidth; ++c)
      want[static_cast<size_t>(tokens[r]) * kWidth + c] += dy[r * kWidth + c];
  const OpSig sig{"embedding_grad",
                  pack_attrs(EmbeddingGradAttrs{kVocab}),
                  {{DType::i32, {1, kRows}}, {DType::f32, {1, kRows, kWidth}}},
                  {{DType::f32, {kVocab, kWidth}}}};
  for (const int threads : {1, 2, 3, 4}) {
    std::vector<float> table(kVocab * kWidth, 0.25f);
    accumulate(sig, {tokens.data(), dy.data()}, table, threads);
    EXPECT_EQ(table, want) << threads << " threads";  // the order of the sum is that of the positions
  }
}

TEST(PositionsGrad, GivenPositionsMayStartAgain) {
  constexpr int64_t kLength = 6, kWidth = 130, kContext = 8;
  std::vector<int32_t> positions = {0, 1, 2, 0, 1, 0};  // three documents
  std::vector<float> dy(kLength * kWidth, 1.0f);
  const OpSig sig{"positions_grad",
                  pack_attrs(PositionsGradAttrs{kContext}),
                  {{DType::f32, {1, kLength, kWidth}}, {DType::i32, {1, kLength}}},
                  {{DType::f32, {kContext, kWidth}}}};
  for (const int threads : {1, 2, 3}) {
    std::vector<float> table(kContext * kWidth);
    accumulate(sig, {dy.data(), positions.data()}, table, threads);
    for (size_t c = 0; c < kWidth; ++c) {
      EXPECT_EQ(table[c], 3.0f);
      EXPECT_EQ(table[kWidth + c], 2.0f);
      EXPECT_EQ(table[2 * kWidth + c], 1.0f);
      EXPECT_EQ(table[3 * kWidth + c], 0.0f);
    }
  }
}

}  // namespace
}  // namespace trireme
