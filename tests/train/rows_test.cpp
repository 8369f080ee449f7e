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
