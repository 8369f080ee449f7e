// A table cut by its rows over ranks: the sum of what the ranks look up is the whole table's, to the bit (all
// addends but one are zero), and each rank's gradient is its rows of the whole one. A vocabulary that does
// not divide leaves rows at the end that no token names.
#include "ops/embedding/embedding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/ranks/placed_values.h"
#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

constexpr int64_t kBatch = 3, kLength = 11, kWidth = 37;

struct Result {
  Values y, dtable;
};

// Forward and gradient of the part of the table that `attrs` and `table` are.
Result run_part(const Attrs& attrs, const TensorType& table, const Values& rows, const Values& tokens,
                const Values& dy) {
  OpSig sig{"embedding", attrs, {{DType::i32, {kBatch, kLength}}, table}, {}};
  sig.outputs = op_def("embedding").infer(sig.attrs, sig.inputs);
  const Differentiated made = differentiate(sig, {tokens, rows}, {dy}, {false, true});
  std::vector<RankList> lists = {made.list};
  run_on_ranks(lists, {.threads = 2, .isa = detect_isa()});
  const auto contents = [&](ValueId id) { return lists[0].contents[static_cast<size_t>(id.index)]; };
  return {contents(lists[0].ops[0].outputs[0]), contents(made.input_grads[1])};
}

// The op as the rule cuts it for a rank, whose rows `table` is.
Cut cut_for(const TensorType& table, int64_t ranks, int64_t rank) {
  const Op op{"embedding", pack_attrs(EmbeddingAttrs{}), {ValueId(0), ValueId(1)}, {ValueId(2)}};
  const std::vector<TensorType> inputs = {{DType::i32, {kBatch, kLength}}, table};
  const std::vector<Placement> placed = {kReplicate, shard_of(0)};
  return op_def("embedding")
      .place({.op = op,
              .inputs = inputs,
              .placed = placed,
              .params = {false, true},
              .home = kRows,
              .axis = BlockAxis::tp,
              .ranks = ranks,
              .rank = rank,
              .cp_mode = ""});
}

TEST(CutEmbedding, PartsAddUpToTheWholeTable) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const auto& [vocab, ranks] :
         {std::pair(12, 2), std::pair(13, 2), std::pair(13, 4), std::pair(5, 4)}) {
      SCOPED_TRACE(fmt::format("{} rows on {} ranks, {}", vocab, ranks, name_of(dtype)));
      const int64_t local = (vocab + ranks - 1) / ranks;
      const TensorType whole{dtype, {vocab, kWidth}}, part{dtype, {local, kWidth}};
      const Values tokens = random_values({.kind = InputFill::Kind::ids, .limit = vocab},
                                          {DType::i32, {kBatch, kLength}}, "tokens");
      const Values dy = random_values({}, {dtype, {kBatch, kLength, kWidth}}, "dy");
      Values table = random_values({}, whole, "table");
      const Result want = run_part(pack_attrs(EmbeddingAttrs{}), whole, table, tokens, dy);
      table.resize(static_cast<size_t>(local * ranks * kWidth), 99.0);  // rows that nobody may read
      Values y(want.y.size()), dtable;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const Cut cut = cut_for(part, ranks, rank);
        EXPECT_EQ(cut.outputs, std::vector{kPartial});
        const auto begin = table.begin() + rank * local * kWidth;
        const Result got = run_part(cut.attrs, part, Values(begin, begin + local * kWidth), tokens, dy);
        for (size_t i = 0; i < y.size(); ++i) y[i] += got.y[i];
        dtable.insert(dtable.end(), got.dtable.begin(), got.dtable.end());
      }
      EXPECT_EQ(y, want.y);
      Values padded = want.dtable;
      padded.resize(table.size(), 0.0);
      EXPECT_EQ(dtable, padded);
    }
}

}  // namespace
}  // namespace trireme
