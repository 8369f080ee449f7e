// Steps arrive whole, in order, sliced by rank; failures surface at their step; the thread ends promptly.
#include "io/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "io/data/shard_files.h"

namespace trireme {
namespace {

using namespace shard_files;

using testing::HasSubstr;

class LoaderTest : public testing::Test {
 protected:
  ScratchFolder dir;

  Dataset open(const std::vector<int>& ids, int64_t seq_len, RowPacking packing = RowPacking::stream,
               SampleOrder order = SampleOrder::shuffled) {
    spill(dir / "a.u16", packed<uint16_t>(ids));
    DataOptions options;
    options.sources = {{{dir / "a.u16"}, 1}};
    options.seq_len = seq_len;
    options.vocab = 1000;
    options.packing = packing;
    options.order = order;
    options.eot = 7;
    return Dataset(options);
  }
};

TEST_F(LoaderTest, GivesTheDatasetsRowsInOrder) {
  const Dataset data = open(counting(0, 101), 10, RowPacking::document);
  Loader loader(data, {.first_sample = 3, .step_sequences = 4});
  for (int64_t step = 0; step < 20; ++step) {
    const StepBatch& batch = loader.next();
    ASSERT_EQ(batch.rows, 4);
    EXPECT_EQ(batch.first_sample, 3 + 4 * step);
    for (int64_t r = 0; r < 4; ++r) {
      std::vector<int32_t> tokens(10), targets(10), positions(10), starts(10);
      const int64_t position = batch.first_sample + r;
      const int64_t counted = data.sample(position, {tokens, targets, positions, starts});
      auto row = [&](const std::vector<int32_t>& all) {
        return std::vector<int32_t>(all.begin() + r * 10, all.begin() + r * 10 + 10);
      };
      EXPECT_EQ(row(batch.tokens), tokens);
      EXPECT_EQ(row(batch.targets), targets);
      EXPECT_EQ(row(batch.positions), positions);
      EXPECT_EQ(row(batch.doc_start), starts);
      EXPECT_EQ(batch.counted[static_cast<size_t>(r)], counted);
      EXPECT_EQ(batch.ids[static_cast<size_t>(r)], data.where(position));
    }
    const bool wraps = (batch.first_sample + 3) / 10 > (batch.first_sample - 1) / 10;
    EXPECT_EQ(batch.wraps.size(), wraps ? 1u : 0u) << step;
  }
}

TEST_F(LoaderTest, RanksTakeDisjointPartsOfTheSameSteps) {
  const Dataset data = open(counting(0, 101), 10);
  Loader whole(data, {.step_sequences = 6}), left(data, {.step_sequences = 6, .count = 4}),
      right(data, {.step_sequences = 6, .offset = 4});
  for (int step = 0; step < 10; ++step) {
    const StepBatch &w = whole.next(), &l = left.next(), &r = right.next();
    std::vector<SampleId> both = l.ids;
    both.insert(both.end(), r.ids.begin(), r.ids.end());
    EXPECT_EQ(both, w.ids);
    std::vector<int32_t> tokens = l.tokens;
    tokens.insert(tokens.end(), r.tokens.begin(), r.tokens.end());
    EXPECT_EQ(tokens, w.tokens);
    EXPECT_TRUE(w.positions.empty());
  }
}

TEST_F(LoaderTest, AResumedLoaderGoesOnWhereTheOtherWas) {
  const Dataset data = open(counting(0, 105), 10);
  Loader all(data, {.step_sequences = 3});
  for (int step = 0; step < 7; ++step) all.next();
  Loader resumed(data, {.first_sample = 21, .step_sequences = 3});
  for (int step = 0; step < 20; ++step) EXPECT_EQ(all.next().ids, resumed.next().ids);
}

TEST_F(LoaderTest, FailuresSurfaceAtTheirStepAndStay) {
  std::vector<int> ids = counting(0, 41);
  ids[35] = 1000;
  const Dataset data = open(ids, 10, RowPacking::stream, SampleOrder::fixed);
  Loader loader(data, {.step_sequences = 1, .ahead = 3});
  for (int step = 0; step < 3; ++step) loader.next();
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(message_of<UserError>([&] { loader.next(); }), HasSubstr("id 1000 at token 35"));
  }
}

TEST_F(LoaderTest, FixedOrderEnds) {
  const Dataset data = open(counting(0, 41), 10, RowPacking::stream, SampleOrder::fixed);
  Loader loader(data, {.step_sequences = 2});
  loader.next();
  loader.next();
  EXPECT_THAT(message_of<UserError>([&] { loader.next(); }), HasSubstr("hold 4 windows"));
}

TEST_F(LoaderTest, MovesAndEndsWithoutBeingRead) {
  const Dataset data = open(counting(0, 101), 10);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    Loader loader(data, {.step_sequences = 100000 / (i + 1), .ahead = 1});
    Loader moved = std::move(loader);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// The thread has 300 ms for some microseconds of work; then it has none for 20,000 rows.
TEST_F(LoaderTest, MeasuresStall) {
  const Dataset data = open(counting(0, 101), 10);
  Loader slow_reader(data, {.step_sequences = 2, .ahead = 5});
  slow_reader.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int step = 0; step < 4; ++step) slow_reader.next();
  EXPECT_LT(slow_reader.stall_s(), 0.15);
  Loader fast_reader(data, {.step_sequences = 20000});
  fast_reader.next();
  EXPECT_EQ(fast_reader.stall_s(), 0);
  for (int step = 0; step < 5; ++step) fast_reader.next();
  EXPECT_GT(fast_reader.stall_s(), 0);
}

}  // namespace
}  // namespace trireme
