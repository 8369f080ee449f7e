// The keys that cut the inside of a layer: defaults, where they apply, and what is refused with the numbers
// that would do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::string>;

Keys joined(Keys first, const Keys& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

TEST(BlockAxesKeys, Defaults) {
  const ParallelSpec one = with({}).parallel;
  EXPECT_EQ(one.tp, 1);
  EXPECT_EQ(one.cp, 1);
  EXPECT_EQ(one.ep, 1);
  const RunSpec cut = with({"parallel.tp=2", "parallel.cp=2", "parallel.dp_replicate=2"});
  EXPECT_TRUE(cut.parallel.sequence);
  EXPECT_EQ(cut.parallel.etp, 2);
  EXPECT_EQ(cut.parallel.cp_mode, ContextMode::ring);
  EXPECT_EQ(with({"parallel.tp=2", "parallel.etp=1"}).parallel.etp, 1);
  // Ranks that share sequences or layers have the same data.
  EXPECT_EQ(all_ranks(cut), 8);
  EXPECT_EQ(data_parallel_ranks(cut), 2);
  EXPECT_EQ(micro_batches_per_step(cut), 4);
  EXPECT_EQ(cut.batch.lanes, 2);
}

TEST(BlockAxesKeys, CountsOfExpertsAreCutByBothAxes) {
  const Keys moe = {"model.family=llama", "moe.experts=2", "moe.top_k=1",    "moe.expert_ffn=64",
                    "parallel.tp=2",      "parallel.cp=4", "data.seq_len=64"};
  EXPECT_THAT(error_with(moe), HasSubstr("parallel.cp = 4 with parallel.tp = 2 and sequence = true does not "
                                         "divide moe.experts = 2; use 1 or 2, or sequence = false"));
  EXPECT_EQ(with(joined(moe, {"parallel.sequence=false"})).parallel.cp, 4);
}

TEST(BlockAxesKeys, ApplyToTheirAxisOnly) {
  for (const char* key : {"sequence=false", "sequence=true", "etp=1"})
    EXPECT_THAT(error_with({fmt::format("parallel.{}", key)}),
                HasSubstr("is only used with parallel.tp > 1; remove it"))
        << key;
  EXPECT_EQ(error_with({"parallel.cp_mode=ulysses"}),
            "--set: parallel.cp_mode = \"ulysses\" is only used with parallel.cp > 1; remove it");
}

TEST(BlockAxesKeys, Ranges) {
  for (const char* key : {"tp", "cp", "ep"}) {
    EXPECT_THAT(error_with({fmt::format("parallel.{}=0", key)}), HasSubstr("must be from 1 to ")) << key;
    EXPECT_THAT(error_with({fmt::format("parallel.{}=1000000", key)}), HasSubstr("must be from 1 to "))
        << key;
  }
  EXPECT_THAT(error_with({"parallel.tp=2", "parallel.etp=0"}), HasSubstr("must be from 1 to 4096"));
  EXPECT_THAT(error_with({"parallel.cp=2", "parallel.cp_mode=rings"}),
              HasSubstr("is not one of ring, allgather, ulysses; did you mean ring?"));
  EXPECT_THAT(error_with({"parallel.tp=4096", "parallel.cp=4096"}),
              HasSubstr("x dp_shard = 1 x cp = 4096 x tp = 4096 make more than 1048576 ranks; use fewer"));
}

// The base has 4 heads, a hidden width of 256, 64 tokens to a sequence.
TEST(BlockAxesKeys, TensorRanksDivideHeadsAndHiddenUnits) {
  EXPECT_EQ(with({"parallel.tp=4"}).parallel.tp, 4);
  EXPECT_EQ(error_with({"parallel.tp=3"}),
            "--set: parallel.tp = 3 does not divide model.heads = 4; use 1, 2 or 4");
  EXPECT_EQ(error_with({"parallel.tp=8"}),
            "--set: parallel.tp = 8 does not divide model.heads = 4; use 1, 2 or 4");
  EXPECT_EQ(error_with(joined(kLlama, {"parallel.tp=4", "model.kv_heads=2"})),
            "--set: parallel.tp = 4 does not divide model.kv_heads = 2; use 1 or 2");
  EXPECT_EQ(error_with({"parallel.tp=4", "model.ffn=102"}),
            "--set: parallel.tp = 4 does not divide model.ffn = 102; use 1 or 2");
  EXPECT_EQ(error_with({"parallel.tp=2", "model.ffn=99"}),
            "--set: parallel.tp = 2 does not divide model.ffn = 99; use 1");
  // The vocabulary need not divide: it is padded.
  EXPECT_EQ(with({"parallel.tp=4", "model.vocab=257"}).model.vocab, 257);
}

TEST(BlockAxesKeys, TensorRanksDivideWhatAModelWithExpertsHas) {
  const Keys moe = joined(kLlama, {"parallel.tp=2", "moe.experts=4"});
  EXPECT_EQ(error_with(joined(moe, {"moe.expert_ffn=33"})),
            "--set: parallel.tp = 2 does not divide moe.expert_ffn = 33; use 1");
  EXPECT_EQ(error_with(joined(moe, {"moe.expert_ffn=33", "parallel.etp=1"})), "no error");
  EXPECT_EQ(error_with(joined(moe, {"moe.shared_ffn=33"})),
            "--set: parallel.tp = 2 does not divide moe.shared_ffn = 33; use 1");
  // Without a dense layer model.ffn is of no matter; with one it is.
  EXPECT_EQ(error_with(joined(moe, {"model.ffn=99", "moe.expert_ffn=32"})), "no error");
  EXPECT_EQ(error_with(joined(moe, {"model.ffn=99", "moe.expert_ffn=32", "moe.first_dense=1"})),
            "--set: parallel.tp = 2 does not divide model.ffn = 99; use 1");
}

TEST(BlockAxesKeys, SequenceCutsWholeTokens) {
  const Keys odd = {"parallel.tp=2", "data.seq_len=33", "batch.micro=1"};
  EXPECT_EQ(error_with(odd),
            "--set: parallel.tp = 2 does not divide the 33 tokens of a micro-batch (batch.micro = 1 x "
            "data.seq_len = 33 / cp = 1), which parallel.sequence = true cuts; use a multiple of 2 "
            "for batch.micro, or sequence = false");
  EXPECT_EQ(error_with(joined(odd, {"parallel.sequence=false"})), "no error");
  EXPECT_EQ(error_with({"parallel.tp=2", "data.seq_len=33", "batch.micro=2"}), "no error");
  // Rows are those of a context rank.
  EXPECT_THAT(error_with({"parallel.tp=4", "parallel.cp=8", "data.seq_len=16", "batch.micro=1"}),
              HasSubstr("does not divide the 2 tokens of a micro-batch"));
}

TEST(BlockAxesKeys, ChunksDivideTheTokensOfATensorRank) {
  const Keys tp = {"parallel.tp=2", "data.seq_len=64", "batch.micro=1"};
  EXPECT_EQ(with(tp).parallel.tp_chunks, 1);
  EXPECT_EQ(with(joined(tp, {"parallel.tp_chunks=4"})).parallel.tp_chunks, 4);
  EXPECT_EQ(error_with(joined(tp, {"parallel.tp_chunks=5"})),
            "--set: parallel.tp_chunks = 5 does not divide the 32 tokens that a tp rank has of a micro-batch "
            "(batch.micro = 1 x data.seq_len = 64 / cp = 1 / tp = 2); use 1, 2, 4, 8, 16 or 32");
  EXPECT_THAT(error_with({"parallel.tp_chunks=2"}), HasSubstr("parallel.tp_chunks"));
  EXPECT_THAT(error_with(joined(tp, {"parallel.sequence=false", "parallel.tp_chunks=2"})),
              HasSubstr("parallel.sequence = true"));
}

TEST(BlockAxesKeys, ContextRanksDivideSequencesIntoTwoChunksEach) {
  for (const char* mode : {"ring", "allgather"}) {
    const Keys in_mode = {fmt::format("parallel.cp_mode={}", mode)};
    EXPECT_EQ(error_with(joined(in_mode, {"parallel.cp=32"})), "no error");
    EXPECT_EQ(
        error_with(joined(in_mode, {"parallel.cp=3"})),
        "--set: parallel.cp = 3 cuts a sequence into 2 x 3 chunks, which do not divide data.seq_len = 64; "
        "use 1, 2, 4, 8, 16 or 32");
    EXPECT_THAT(error_with(joined(in_mode, {"parallel.cp=64"})), HasSubstr("use 1, 2, 4, 8, 16 or 32"));
    EXPECT_EQ(
        error_with(joined(in_mode, {"parallel.cp=3", "data.seq_len=33"})),
        "--set: parallel.cp = 3 cuts a sequence into 2 x 3 chunks, which do not divide data.seq_len = 33; "
        "use an even data.seq_len");
  }
}

TEST(BlockAxesKeys, UlyssesDividesHeadsThatTensorRanksHaveLeft) {
  const Keys ulysses = {"parallel.cp_mode=ulysses"};
  EXPECT_EQ(error_with(joined(ulysses, {"parallel.cp=4"})), "no error");
  EXPECT_EQ(error_with(joined(ulysses, {"parallel.cp=3"})),
            "--set: parallel.cp = 3 does not divide data.seq_len = 64; use 1, 2, 4, 8, 16, 32 or 64");
  EXPECT_EQ(
      error_with(joined(ulysses, {"parallel.cp=8"})),
      "--set: parallel.cp = 8 with cp_mode = \"ulysses\" does not divide model.heads / tp = 4; use 1, 2 "
      "or 4, or cp_mode = \"ring\"");
  EXPECT_EQ(
      error_with(joined(ulysses, {"parallel.cp=4", "parallel.tp=2"})),
      "--set: parallel.cp = 4 with cp_mode = \"ulysses\" does not divide model.heads / tp = 2; use 1 or "
      "2, or cp_mode = \"ring\"");
  EXPECT_EQ(
      error_with(joined(joined(kLlama, ulysses), {"parallel.cp=4", "model.kv_heads=2"})),
      "--set: parallel.cp = 4 with cp_mode = \"ulysses\" does not divide model.kv_heads / tp = 2; use 1 "
      "or 2, or cp_mode = \"ring\"");
}

TEST(BlockAxesKeys, ExpertRanks) {
  const Keys moe = joined(kLlama, {"moe.experts=6"});
  EXPECT_EQ(error_with({"parallel.ep=2", "parallel.dp_shard=2"}),
            "--set: parallel.ep = 2 needs experts; set moe.experts, or parallel.ep = 1");
  EXPECT_EQ(error_with(joined(moe, {"parallel.ep=4", "parallel.dp_shard=4"})),
            "--set: parallel.ep = 4 does not divide moe.experts = 6; use 1, 2, 3 or 6");
  EXPECT_EQ(error_with(joined(moe, {"parallel.ep=3", "parallel.dp_shard=2", "parallel.cp=2"})),
            "--set: parallel.ep = 3 does not divide the ranks it is a part of (parallel.dp_shard = 2 x cp = "
            "2); use 1, 2 or 4");
  // It is folded over dp_shard x cp, and adds no ranks.
  EXPECT_EQ(all_ranks(with(joined(moe, {"parallel.ep=2", "parallel.cp=2"}))), 2);
  EXPECT_EQ(error_with(joined(moe, {"parallel.tp=4", "parallel.etp=2"})),
            "--set: parallel.etp = 2 must be 1 or parallel.tp = 4");
}

// Numbers do not depend on where they are computed, up to the order of sums.
TEST(BlockAxesKeys, AreLogistics) {
  const uint64_t hash = math_hash(with({}));
  for (const Keys& keys :
       {Keys{"parallel.tp=2"}, Keys{"parallel.tp=2", "parallel.sequence=false", "parallel.etp=1"},
        Keys{"parallel.cp=2", "parallel.cp_mode=allgather"}})
    EXPECT_EQ(math_hash(with(keys)), hash) << keys.back();
}

TEST(BlockAxesKeys, ReadBack) {
  for (const Keys& keys :
       {Keys{"parallel.tp=2", "parallel.sequence=false"}, Keys{"parallel.tp=2", "parallel.etp=1"},
        Keys{"parallel.cp=2", "parallel.cp_mode=ulysses"}}) {
    const RunSpec spec = with(keys);
    const RunSpec again = parse_config(to_toml(spec), "canonical");
    EXPECT_EQ(to_toml(again), to_toml(spec));
    EXPECT_TRUE(diff(spec, again).empty());
  }
}

// --ranks are spread over data-parallel degrees; what cuts a layer stays as the config says.
TEST(BlockAxesKeys, RanksInAll) {
  EXPECT_EQ(on_ranks(8, {"parallel.tp=2", "parallel.cp=2"}).parallel.dp_replicate, 2);
  const ParallelSpec cut = on_ranks(16, {"parallel.pp=2", "parallel.tp=2", "parallel.zero=2"}).parallel;
  EXPECT_EQ(cut.dp_shard, 4);
  EXPECT_EQ(cut.dp_replicate, 1);
  EXPECT_EQ(cut.tp, 2);
  EXPECT_EQ(ranks_error(3, {"parallel.tp=2"}),
            "--ranks 3 is not a multiple of parallel.pp x cp x tp = 1 x 1 x 2 = 2; use 2 or 4");
  EXPECT_EQ(ranks_error(2, {"parallel.tp=2", "parallel.cp=2"}),
            "--ranks 2 is not a multiple of parallel.pp x cp x tp = 1 x 2 x 2 = 4; use 4");
  EXPECT_THAT(ranks_error(4, {"parallel.tp=0"}), HasSubstr("parallel.tp = 0 must be from 1 to 4096"));
  // ep is a part of what these ranks leave.
  EXPECT_THAT(
      ranks_error(2, joined(kLlama, {"moe.experts=4", "parallel.ep=4", "parallel.dp_shard=4"})),
      HasSubstr("parallel.ep = 4 does not divide the ranks it is a part of (parallel.dp_shard = 2 x"));
}

TEST(BlockAxesKeys, DroppingNeedsWholeSequences) {
  const Keys llama = {"model.family=llama", "moe.experts=4", "moe.capacity_factor=1.5"};
  EXPECT_EQ(with(joined(llama, {"parallel.tp=2"})).parallel.tp, 2);
  EXPECT_EQ(error_with(joined(llama, {"parallel.cp=2"})),
            "--set: moe.capacity_factor = 1.5 drops choices in the order of tokens, which parallel.cp = 2 "
            "keeps on different ranks; use capacity_factor = 0, or cp = 1");
}

}  // namespace
}  // namespace trireme::test
