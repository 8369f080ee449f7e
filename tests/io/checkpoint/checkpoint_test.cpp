// Save, list, read back, keep, replace; what is refused by name.
#include "io/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "io/checkpoint/checksum.h"
#include "io/checkpoint/index.h"
#include "io/store/directory_store.h"
#include "small_state.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_checkpoint::difference;
using testing_checkpoint::SmallState;
namespace fs = std::filesystem;

template <class Failure, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

SaveReport save(ByteStore& store, int64_t step, int64_t keep = 0) {
  const SmallState state(step);
  return save_checkpoint(store, state.meta, state.pieces(), {.keep = {.newest = keep}});
}

std::vector<int64_t> steps(const ByteStore& store) {
  std::vector<int64_t> list;
  for (const CheckpointName& found : list_checkpoints(store)) {
    EXPECT_TRUE(found.committed) << found.name;
    list.push_back(found.step);
  }
  return list;
}

std::optional<CheckpointReader> newest(const ByteStore& store) {
  return newest_good(store, {.threads = 2}, [](const std::string& why) { ADD_FAILURE() << why; });
}

TEST(Checkpoint, ComesBackBitForBit) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder / "runs/a/checkpoints");
  const SaveReport report = save(*store, 100);
  EXPECT_EQ(report.name, "step-00000100");
  EXPECT_EQ(report.location, folder / "runs/a/checkpoints/step-00000100");
  int64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(report.location))
    bytes += static_cast<int64_t>(file.file_size());
  EXPECT_EQ(report.bytes, bytes);
  const auto reader = newest(*store);
  ASSERT_TRUE(reader);
  EXPECT_EQ(difference(*reader), "");
  EXPECT_TRUE(verify_checkpoint(*store, "step-00000100").faults.empty());
}

TEST(Checkpoint, EmptyStoreHasNone) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder / "not/there");
  EXPECT_TRUE(list_checkpoints(*store).empty());
  EXPECT_FALSE(newest(*store));
}

TEST(Checkpoint, MovesWithItsRun) {
  const ScratchFolder folder;
  save(*open_directory_store(folder / "runs/a/checkpoints"), 3);
  fs::rename(folder / "runs", folder / "elsewhere");
  const auto store = open_directory_store(folder / "elsewhere/a/checkpoints/");
  EXPECT_EQ(difference(*newest(*store)), "");
}

TEST(Checkpoint, KeepsTheNewestByNumber) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  for (const int64_t step : {9, 10, 100'000'000, 1'000'000'000}) save(*store, step);
  EXPECT_THAT(steps(*store), ElementsAre(9, 10, 100'000'000, 1'000'000'000));
  const SaveReport report = save(*store, 1'000'000'001, 2);
  EXPECT_THAT(steps(*store), ElementsAre(1'000'000'000, 1'000'000'001));
  EXPECT_THAT(report.removed, ElementsAre("step-00000009", "step-00000010", "step-100000000"));
}

TEST(Checkpoint, NeverRemovesTheOneJustSavedNorLaterOnes) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  for (const int64_t step : {10, 20, 30}) save(*store, step);
  save(*store, 15, 1);
  EXPECT_THAT(steps(*store), ElementsAre(15, 20, 30));
}

TEST(Checkpoint, ForeignNamesAreNeverTouched) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  const std::vector<std::string> foreign{"step-5",    "step-000000001",    "step-0000000x", "best",
                                         ".tmp-mine", "step-00000001.bak", ".tmp-step-1",   "step--0000001"};
  for (const std::string& name : foreign) {
    fs::create_directory(folder / name);
    spill(folder / (name + "/precious"), "x");
  }
  fs::create_directories(folder / ".tmp-step-00000007");
  spill(folder / ".tmp-step-00000007/rank-00000.safetensors", "half");
  fs::create_directories(folder / ".tmp-step-00000003-replaced/deep");
  fs::create_directories(folder / "step-00000008");  // renamed, killed before COMMITTED
  const SaveReport report = save(*store, 9, 1);
  EXPECT_THAT(report.removed, testing::UnorderedElementsAre(".tmp-step-00000007",
                                                            ".tmp-step-00000003-replaced", "step-00000008"));
  for (const std::string& name : foreign) EXPECT_EQ(slurp(folder / (name + "/precious")), "x") << name;
  EXPECT_THAT(steps(*store), ElementsAre(9));
}

TEST(Checkpoint, SameStepIsReplaced) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  save(*store, 4);
  spill(folder / "step-00000004/rank-00000.safetensors", "damaged");
  SmallState state(4);
  state.weights[0] = -1;
  save_checkpoint(*store, state.meta, state.pieces(), {});
  float weights[64];
  newest(*store)->read("params/w", DType::f32, {2, 32}, std::as_writable_bytes(std::span(weights)));
  EXPECT_EQ(weights[0], -1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(Checkpoint, RefusesAnotherModelByName) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  save(*store, 1);
  const CheckpointReader reader(*store, "step-00000001");
  std::vector<std::byte> bytes(4096);
  const auto read = [&](const std::string& name, DType dtype, const Shape& shape) {
    return message_of<UserError>([&] {
      reader.read(name, dtype, shape,
                  std::span(bytes).first(static_cast<size_t>(count(shape) * size_of(dtype))));
    });
  };
  EXPECT_THAT(read("params/w2", DType::f32, {2, 32}), HasSubstr("has no tensor params/w2"));
  EXPECT_THAT(read("params/w", DType::f32, {32, 2}),
              testing::AllOf(HasSubstr("params/w is f32 [2,32]"), HasSubstr("but f32 [32,2]")));
  EXPECT_THAT(read("params/w", DType::i32, {2, 32}), HasSubstr("but i32 [2,32]"));
  const auto require = [&](std::vector<std::string> names) {
    return message_of<UserError>([&] { reader.require_exactly(names); });
  };
  EXPECT_THAT(require({"m/w", "params/b", "params/w"}), "nothing was refused");
  EXPECT_THAT(require({"m/w", "params/b"}),
              testing::AllOf(HasSubstr("the further tensor params/w"),
                             HasSubstr("resume with the run's own model settings and optimizer.kind")));
  EXPECT_THAT(require({"m/w", "params/b", "params/w", "params/x"}), HasSubstr("lacks tensor params/x"));
  EXPECT_THAT(require({"m/w", "params/b", "params/x"}),
              HasSubstr("lacks tensor params/x and it has the further tensor params/w"));
}

// Tensors of several checksum blocks, read and hashed by several threads.
TEST(Checkpoint, LargeTensorsAreCutIntoBlocks) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  std::vector<float> large(static_cast<size_t>(2 * kChecksumBlockBytes / 4 + 3));
  std::iota(large.begin(), large.end(), 0.0f);
  const Shape shape{static_cast<int64_t>(large.size())};
  const std::vector<TensorPiece> pieces{{"large", DType::f32, shape, std::as_bytes(std::span(large))}};
  save_checkpoint(*store, {.step = 1}, pieces, {});
  std::vector<float> back(large.size());
  const CheckpointReader reader(*store, "step-00000001", {.threads = 3});
  reader.read("large", DType::f32, shape, std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, large);
  EXPECT_TRUE(reader.faults().empty());

  const std::string file = folder / "step-00000001/rank-00000.safetensors";
  std::string bytes = slurp(file);
  bytes[bytes.size() - 1] ^= 1;
  bytes[bytes.size() - 100 - static_cast<size_t>(kChecksumBlockBytes)] ^= 1;
  spill(file, bytes);
  const VerifyReport report = verify_checkpoint(*store, "step-00000001", {.threads = 3});
  ASSERT_EQ(report.faults.size(), 2u);
  EXPECT_THAT(report.faults[1], HasSubstr("rank-00000.safetensors is damaged: tensor large, bytes 209"));
  const CheckpointReader again(*store, "step-00000001", {.threads = 3});
  const auto read = [&] { again.read("large", DType::f32, shape, std::as_writable_bytes(std::span(back))); };
  EXPECT_THAT(message_of<EnvError>(read), HasSubstr("is damaged: tensor large"));
}

TEST(Checkpoint, ScalarsAndEmptyTensors) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  const float one = 1;
  const std::vector<TensorPiece> pieces{{"scalar", DType::f32, {}, std::as_bytes(std::span(&one, 1))},
                                        {"empty", DType::f32, {0, 7}, {}}};
  save_checkpoint(*store, {.step = 0}, pieces, {});
  const auto reader = newest(*store);
  ASSERT_TRUE(reader);
  float back = 0;
  reader->read("scalar", DType::f32, {}, std::as_writable_bytes(std::span(&back, 1)));
  EXPECT_EQ(back, 1);
  reader->read("empty", DType::f32, {0, 7}, std::span<std::byte>());
}

// xxHash's own sanity vector for an empty input, and what `xxhsum -H128` prints.
TEST(Checksum, IsTheCanonicalXxh3) {
  EXPECT_EQ(to_hex(checksum_of(std::string())), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace trireme
