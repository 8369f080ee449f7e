// Rows, targets and documents; the order over epochs; what is refused before it is trained on.
#include "io/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "base/error.h"
#include "io/data/shard_files.h"

namespace trireme {
namespace {

using namespace shard_files;

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Row {
  std::vector<int32_t> tokens, targets, positions, doc_start;
  int64_t counted = 0;
};

Row read(const Dataset& data, int64_t position) {
  const auto length = static_cast<size_t>(data.options().seq_len);
  Row row{std::vector<int32_t>(length), std::vector<int32_t>(length), std::vector<int32_t>(length),
          std::vector<int32_t>(length)};
  row.counted = data.sample(position, {row.tokens, row.targets, row.positions, row.doc_start});
  return row;
}

DataOptions options_for(std::vector<std::string> files, int64_t seq_len) {
  DataOptions options;
  options.sources = {{std::move(files), 1}};
  options.seq_len = seq_len;
  options.vocab = 60000;
  return options;
}

std::string refusal(const DataOptions& options) {
  return message_of<UserError>([&] { Dataset data(options); });
}

class DatasetTest : public testing::Test {
 protected:
  ScratchFolder dir;
  std::string u16(const std::string& name, const std::vector<int>& ids) {
    spill(dir / name, packed<uint16_t>(ids));
    return dir / name;
  }
  std::string megatron(const std::string& name, const std::vector<int>& ids,
                       const std::vector<int>& lengths) {
    spill(dir / (name + ".bin"), packed<uint16_t>(ids));
    spill(dir / (name + ".idx"), megatron_index(lengths, 8, 2));
    return dir / (name + ".bin");
  }
};

TEST_F(DatasetTest, WindowsShareOneTokenAndCrossShards) {
  DataOptions options =
      options_for({u16("a.u16", counting(0, 5)), u16("b.u16", {}), u16("c.u16", counting(5, 4))}, 4);
  options.order = SampleOrder::fixed;
  const Dataset data(options);
  ASSERT_EQ(data.samples_per_epoch(), 2);
  const Row first = read(data, 0), second = read(data, 1);
  EXPECT_THAT(first.tokens, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first.targets, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(second.tokens, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(second.targets, ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(second.positions, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(second.doc_start, Each(0));
  EXPECT_EQ(second.counted, 4);
}

TEST_F(DatasetTest, EveryEpochHasEveryWindowOnceInAnotherOrder) {
  const Dataset data(options_for({u16("a.u16", counting(0, 101))}, 10));
  ASSERT_EQ(data.samples_per_epoch(), 10);
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < 10; ++i) {
      const SampleId id = data.where(epoch * 10 + i);
      EXPECT_EQ(id.epoch, epoch);
      EXPECT_EQ(data.begins_new_epoch(epoch * 10 + i), epoch > 0 && i == 0);
      EXPECT_EQ(read(data, epoch * 10 + i).tokens[0], id.window * 10);
      order.push_back(id.window);
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < 10; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST_F(DatasetTest, SeedChoosesTheOrder) {
  DataOptions options = options_for({u16("a.u16", counting(0, 1001))}, 10);
  const Dataset one(options), again(options);
  options.seed = 2;
  const Dataset two(options);
  int same = 0;
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(one.where(i), again.where(i));
    same += one.where(i) == two.where(i);
  }
  EXPECT_LT(same, 10);
}

TEST_F(DatasetTest, CountsThatAreTooSmallSayWhatIsNeeded) {
  for (const int count : {0, 1, 8}) {
    EXPECT_THAT(refusal(options_for({u16("a.u16", counting(0, count))}, 8)),
                AllOf(HasSubstr("data.train"), HasSubstr("a.u16"),
                      HasSubstr(fmt::format("has {} tokens", count)), HasSubstr("needs at least 9")));
  }
  EXPECT_EQ(Dataset(options_for({u16("a.u16", counting(0, 9))}, 8)).samples_per_epoch(), 1);
  EXPECT_EQ(Dataset(options_for({u16("a.u16", counting(0, 16))}, 8)).samples_per_epoch(), 1);
  EXPECT_EQ(Dataset(options_for({u16("a.u16", counting(0, 17))}, 8)).samples_per_epoch(), 2);
}

TEST_F(DatasetTest, IdsOutsideTheVocabularyAreRefusedWithTheirPlace) {
  DataOptions options = options_for({u16("a.u16", counting(0, 5)), u16("b.u16", {1, 2, 300, 1})}, 4);
  options.order = SampleOrder::fixed;
  options.vocab = 300;
  const Dataset data(options);
  read(data, 0);
  EXPECT_THAT(message_of<UserError>([&] { read(data, 1); }),
              AllOf(HasSubstr("b.u16 holds id 300 at token 2"), HasSubstr("model.vocab = 300")));
  spill(dir / "c.bin", packed<int32_t>(std::vector<int>{1, 2, -7}));
  spill(dir / "c.idx", megatron_index({3}, 4, 4));
  const Dataset negative(options_for({dir / "c.bin"}, 2));
  EXPECT_THAT(message_of<UserError>([&] { read(negative, 0); }), HasSubstr("id -7 at token 2"));
}

// The target behind the last token of a window is checked too: it is trained on.
TEST_F(DatasetTest, TheLastTargetIsCheckedToo) {
  DataOptions options = options_for({u16("a.u16", {1, 2, 9})}, 2);
  options.vocab = 9;
  const Dataset data(options);
  EXPECT_THAT(message_of<UserError>([&] { read(data, 0); }), HasSubstr("id 9 at token 2"));
}

TEST_F(DatasetTest, DocumentsOfAnIndex) {
  // Documents: 0 1 2 | 3 | (empty) | 4 5 6 7 | 8
  DataOptions options = options_for({megatron("m", counting(0, 9), {3, 1, 0, 4, 1})}, 4);
  options.packing = RowPacking::document;
  options.order = SampleOrder::fixed;
  const Dataset data(options);
  const Row first = read(data, 0), second = read(data, 1);
  EXPECT_THAT(first.tokens, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first.targets, ElementsAre(1, 2, -1, -1));
  EXPECT_THAT(first.positions, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(first.doc_start, ElementsAre(0, 0, 0, 3));
  EXPECT_EQ(first.counted, 2);
  EXPECT_THAT(second.targets, ElementsAre(5, 6, 7, -1));
  EXPECT_THAT(second.positions, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(second.counted, 3);
}

TEST_F(DatasetTest, DocumentsOfDatatrove) {
  spill(dir / "0.ds", packed<uint16_t>(counting(0, 5)));
  spill(dir / "0.ds.index", packed<uint64_t>(std::vector<int>{2, 5}));
  DataOptions options = options_for({dir / "0.ds*"}, 4);
  options.packing = RowPacking::document;
  const Row row = read(Dataset(options), 0);
  EXPECT_THAT(row.targets, ElementsAre(1, -1, 3, 4));
  EXPECT_THAT(row.doc_start, ElementsAre(0, 0, 2, 2));
}

TEST_F(DatasetTest, DocumentsByEndOfText) {
  DataOptions options = options_for({u16("a.u16", {9, 1, 2, 9, 3, 4})}, 5);
  options.packing = RowPacking::document;
  options.eot = 9;
  const Row ends = read(Dataset(options), 0);  // a plain file: the id ends a document
  EXPECT_THAT(ends.targets, ElementsAre(-1, 2, 9, -1, 4));
  EXPECT_THAT(ends.doc_start, ElementsAre(0, 1, 1, 1, 4));
  EXPECT_THAT(ends.positions, ElementsAre(0, 0, 1, 2, 0));
  spill(dir / "a.bin", llm_c_bytes({9, 1, 2, 9, 3, 9}));
  options.sources[0].patterns = {dir / "a.bin"};
  const Row starts = read(Dataset(options), 0);  // llm.c: the id begins one
  EXPECT_THAT(starts.targets, ElementsAre(1, 2, -1, 3, -1));
  EXPECT_THAT(starts.doc_start, ElementsAre(0, 0, 0, 3, 3));
  EXPECT_EQ(starts.counted, 3);
}

TEST_F(DatasetTest, AShardBeginsADocument) {
  DataOptions options = options_for({u16("a.u16", {1, 2}), u16("b.u16", {3, 4, 5})}, 4);
  options.packing = RowPacking::document;
  options.eot = 9;
  const Row row = read(Dataset(options), 0);
  EXPECT_THAT(row.targets, ElementsAre(2, -1, 4, 5));
  EXPECT_THAT(row.positions, ElementsAre(0, 1, 0, 1));
}

TEST_F(DatasetTest, DocumentPackingNeedsBoundaries) {
  DataOptions options = options_for({u16("a.u16", counting(0, 9))}, 4);
  options.packing = RowPacking::document;
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("a.u16"), HasSubstr("data.tokenizer")));
  spill(dir / "a.bin", llm_c_bytes(counting(0, 9)));
  options.sources[0].patterns = {dir / "a.bin"};
  EXPECT_EQ(refusal(options), "");  // 50256 by the format
  options.vocab = 257;
  EXPECT_THAT(refusal(options), HasSubstr("model.vocab = 257"));
}

// Whatever the boundaries, a packed row is the documents' own rows one after the other.
TEST_F(DatasetTest, PackedRowsAgreeWithDocumentsReadAlone) {
  std::vector<int> lengths, ids;
  std::vector<int> place, document;
  for (int d = 0; d < 200; ++d) {
    lengths.push_back((d * 7919) % 13);
    for (int i = 0; i < lengths.back(); ++i) {
      ids.push_back(static_cast<int>(ids.size()) % 50000);
      place.push_back(i);
      document.push_back(d);
    }
  }
  DataOptions options = options_for({megatron("m", ids, lengths)}, 16);
  options.packing = RowPacking::document;
  options.order = SampleOrder::fixed;
  const Dataset data(options);
  for (int64_t w = 0; w < data.samples_per_epoch(); ++w) {
    const Row row = read(data, w);
    for (size_t i = 0; i < 16; ++i) {
      const size_t at = static_cast<size_t>(w) * 16 + i;
      const int shown = std::min(place[at], static_cast<int>(i));  // a document may begin before the row
      EXPECT_EQ(row.positions[i], shown);
      EXPECT_EQ(row.doc_start[i], static_cast<int>(i) - shown);
      EXPECT_EQ(row.targets[i], document[at] == document[at + 1] ? ids[at + 1] : -1);
    }
    EXPECT_EQ(row.counted, 16 - std::count(row.targets.begin(), row.targets.end(), -1));
  }
}

TEST_F(DatasetTest, MixtureWrapsSmallSets) {
  DataOptions options = options_for({u16("a.u16", counting(0, 41))}, 4);
  options.sources = {
      {{dir / "a.u16"}, 0.999}, {{u16("b.u16", counting(1000, 41))}, 0.001}, {{dir / "b.u16"}, 0}};
  const Dataset data(options);
  std::vector<int> counts(3);
  int wraps = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const Row row = read(data, i);
    const SampleId id = data.where(i);
    EXPECT_EQ(row.tokens[0] >= 1000, id.source == 1);
    ++counts[static_cast<size_t>(id.source)];
    wraps += data.begins_new_epoch(i);
  }
  EXPECT_GE(counts[0], 99);
  EXPECT_EQ(counts[2], 0);
  EXPECT_EQ(wraps, 9);
  EXPECT_THAT(data.describe(100),
              testing::Contains(HasSubstr("weight 0.999 is 0.999 of all samples; read 10")));
}

TEST_F(DatasetTest, BadWeightsAreRefused) {
  DataOptions options = options_for({u16("a.u16", counting(0, 41))}, 4);
  options.sources[0].weight = -0.5;
  EXPECT_THAT(refusal(options), HasSubstr("weight -0.5 of set 1"));
  options.sources[0].weight = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refusal(options), HasSubstr("nan"));
  options.sources[0].weight = 0;
  EXPECT_THAT(refusal(options), HasSubstr("no set has a weight above 0"));
  options.sources.clear();
  EXPECT_NE(refusal(options), "");
}

TEST_F(DatasetTest, DescribesFilesInOrder) {
  for (const int i : {10, 2, 1}) u16(fmt::format("s_{}.u16", i), counting(0, 9));
  const auto lines = Dataset(options_for({dir / "s_*.u16"}, 8)).describe(0);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("27 tokens in 3 files, 3 windows of 8, 2 tokens at the end left over"));
  EXPECT_THAT(lines[1], HasSubstr("s_1.u16"));
  EXPECT_THAT(lines[2], HasSubstr("s_10.u16"));
  EXPECT_THAT(lines[3], HasSubstr("s_2.u16"));
}

}  // namespace
}  // namespace trireme
