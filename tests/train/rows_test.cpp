// Who reads which samples: disjoint over data-parallel ranks, equal along a pipeline, together the order of
// one rank.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "scratch_folder.h"
#include "train/batches.h"
#include "train/data_options.h"

namespace trireme {
namespace {

constexpr int64_t kSequences = 8, kSteps = 5;

class Rows : public testing::Test {
 protected:
  Rows() {
    std::ofstream file(folder_ / "train.u16", std::ios::binary);
    for (int i = 0; i < 2000; ++i) file.put(static_cast<char>(i % 89)).put(0);
    file.close();
    spec_ = parse_config(
        fmt::format(
            "[model]\nfamily = \"gpt2\"\nlayers = 2\nwidth = 32\nheads = 2\nvocab = 97\ncontext = 16\n"
            "[data]\ntrain = [\"{}\"]\nseq_len = 16\n[batch]\nsequences = {}\nmicro = 1\n"
            "[optimizer]\nlr = 1e-3\n[run]\nname = \"rows\"\nsteps = 10\n",
            folder_ / "train.u16", kSequences),
        "rows");
    data_.emplace(training_options(spec_, std::nullopt));
  }

  // The ids of some steps, as a rank of the mesh reads them.
  std::vector<std::vector<SampleId>> steps_of(const Mesh& mesh, int rank) const {
    Loader loader(*data_, rows_of_rank(spec_, mesh, rank, 3));
    std::vector<std::vector<SampleId>> steps;
    for (int64_t step = 0; step < kSteps; ++step) steps.push_back(loader.next().ids);
    return steps;
  }

  test::ScratchFolder folder_;
  RunSpec spec_;
  std::optional<Dataset> data_;
};

// A batch of two rows with numbers to tell apart.
StepBatch numbered(int64_t T, bool documents) {
  StepBatch batch;
  batch.rows = 2;
  for (int32_t i = 0; i < 2 * T; ++i) {
    batch.tokens.push_back(100 + i), batch.targets.push_back(200 + i);
    const auto t = i % static_cast<int32_t>(T), start = t < 5 ? 0 : 5;
    if (documents) batch.positions.push_back(t - start), batch.doc_start.push_back(start);
  }
  batch.counted = {T, T};
  return batch;
}

// Each field's value at every position of the whole rows, put together from the ranks' parts.
TEST_F(Rows, ContextRanksHaveEveryPositionOnce) {
  constexpr int64_t T = 16;
  for (const ContextMode mode : {ContextMode::ring, ContextMode::allgather, ContextMode::ulysses})
    for (const int32_t cp : {1, 2, 4})
      for (const bool documents : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of_value(mode), cp, documents));
        spec_.parallel.cp_mode = mode;
        const StepBatch whole = numbered(T, documents);
        std::vector<std::vector<int32_t>> seen(2 * T);
        for (int rank = 0; rank < cp; ++rank) {
          const StepBatch part = context_part(whole, spec_, {.cp = cp}, rank);
          EXPECT_EQ(part.counted, whole.counted);
          ASSERT_EQ(part.tokens.size(), static_cast<size_t>(2 * T / cp));
          EXPECT_EQ(part.doc_start.size(), documents ? part.tokens.size() : 0);
          for (size_t i = 0; i < part.tokens.size(); ++i) {
            const auto at = static_cast<size_t>(part.tokens[i] - 100);
            seen.at(at).push_back(rank);
            EXPECT_EQ(at / T, i / static_cast<size_t>(T / cp)) << "another row's";
            EXPECT_EQ(part.targets[i], whole.targets[at]);
            EXPECT_EQ(part.positions[i],
                      documents ? whole.positions[at] : static_cast<int32_t>(at) % int32_t{T});
            if (documents) {
              EXPECT_EQ(part.doc_start[i], whole.doc_start[at]);
            }
          }
        }
        for (const std::vector<int32_t>& ranks : seen) EXPECT_EQ(ranks.size(), 1u);
        if (cp != 2) continue;  // the layout that attention counts on
        EXPECT_EQ(seen[0][0], 0);
        EXPECT_EQ(seen[15][0], mode == ContextMode::ulysses ? 1 : 0);
        EXPECT_EQ(seen[8][0], 1);
      }
}

TEST_F(Rows, MicroBatchesPointIntoTheRanksPart) {
  Program program;
  program.mesh.cp = 2, program.rank = 1;
  program.batch = {{"tokens", {DType::i32, {1, 8}}}, {"positions", {DType::i32, {1, 8}}}};
  const StepBatch whole = numbered(16, false);
  const MicroBatches made = micro_batches(program, whole, spec_);
  ASSERT_EQ(made.arrays.size(), 2u);
  const auto* tokens = static_cast<const int32_t*>(made.arrays[1][0]);
  const auto* positions = static_cast<const int32_t*>(made.arrays[1][1]);
  EXPECT_EQ(std::vector(tokens, tokens + 8), (std::vector<int32_t>{120, 121, 122, 123, 124, 125, 126, 127}));
  EXPECT_EQ(std::vector(positions, positions + 8), (std::vector<int32_t>{4, 5, 6, 7, 8, 9, 10, 11}));
}

std::string text_of(const std::vector<SampleId>& ids) {
  std::string text;
  for (const SampleId& id : ids) text += fmt::format("{}:{}:{} ", id.source, id.epoch, id.window);
  return text;
}

TEST_F(Rows, AreDisjointOverDataParallelRanksAndEqualAlongAPipeline) {
  const std::vector<std::vector<SampleId>> one = steps_of({}, 0);
  for (const Mesh& mesh : {Mesh{1, 2, 1}, Mesh{1, 2, 4}, Mesh{2, 1, 1}, Mesh{2, 2, 2}, Mesh{4, 1, 8}}) {
    std::vector<std::string> together(kSteps);
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
      const std::vector<std::vector<SampleId>> mine = steps_of(mesh, rank);
      for (size_t step = 0; step < kSteps; ++step) {
        EXPECT_EQ(mine[step].size(), static_cast<size_t>(kSequences / mesh.data_parallel()));
        // Ranks of the first stage, in their order; the other stages' repeat them.
        if (rank < mesh.data_parallel())
          together[step] += text_of(mine[step]);
        else
          EXPECT_EQ(text_of(mine[step]), text_of(steps_of(mesh, rank % mesh.data_parallel())[step]));
      }
    }
    for (size_t step = 0; step < kSteps; ++step) EXPECT_EQ(together[step], text_of(one[step]));
  }
}

}  // namespace
}  // namespace trireme
