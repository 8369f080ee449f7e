// Tensors that many ranks wrote in parts, read in other parts; and single bits that turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/rank_file.h"
#include "io/checkpoint/staged_save.h"
#include "io/store/directory_store.h"
#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
using testing::HasSubstr;

// What overlap_of says, element by element.
std::vector<BoxRun> slow_overlap(const BoxPart& from, const BoxPart& to) {
  std::map<Shape, int64_t> place;  // in `to`, by index in the tensor
  const auto each = [](const BoxPart& part, const auto& visit) {
    for (int64_t e = part.first; e < part.last; ++e) {
      Shape index(part.shape.size());
      int64_t rest = e;
      for (size_t d = part.shape.size(); d-- > 0; rest /= part.shape[d])
        index[d] = part.offset[d] + rest % part.shape[d];
      visit(index, e - part.first);
    }
  };
  each(to, [&](const Shape& index, int64_t e) { place[index] = e; });
  std::vector<BoxRun> runs;
  each(from, [&](const Shape& index, int64_t e) {
    const auto found = place.find(index);
    if (found == place.end()) return;
    if (!runs.empty() && runs.back().from + runs.back().count == e &&
        runs.back().to + runs.back().count == found->second)
      ++runs.back().count;
    else
      runs.push_back({e, found->second, 1});
  });
  return runs;
}

// Neighbours joined: overlap_of may cut a run where rows end.
std::vector<BoxRun> joined_runs(const std::vector<BoxRun>& runs) {
  std::vector<BoxRun> joined;
  for (const BoxRun& run : runs)
    if (!joined.empty() && joined.back().from + joined.back().count == run.from &&
        joined.back().to + joined.back().count == run.to)
      joined.back().count += run.count;
    else
      joined.push_back(run);
  return joined;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : stream_(seed, "test/parts") {}
  int64_t below(int64_t n) { return static_cast<int64_t>(stream_.bits(next_++) % static_cast<uint64_t>(n)); }
  BoxPart part_of(const Shape& shape) {
    BoxPart part;
    for (const int64_t extent : shape) {
      part.shape.push_back(1 + below(extent));
      part.offset.push_back(below(extent - part.shape.back() + 1));
    }
    const int64_t a = below(count(part.shape) + 1), b = below(count(part.shape) + 1);
    part.first = below(3) == 0 ? 0 : std::min(a, b);
    part.last = below(3) == 0 ? count(part.shape) : std::max({a, b, part.first});
    return part;
  }

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

TEST(BoxRuns, OverlapsAreThoseOfTheElements) {
  Dice dice(1);
  for (int round = 0; round < 3000; ++round) {
    Shape shape;
    for (int64_t d = dice.below(5); d > 0; --d) shape.push_back(1 + dice.below(4));
    const BoxPart from = dice.part_of(shape), to = dice.part_of(shape);
    EXPECT_EQ(joined_runs(overlap_of(from, to)), slow_overlap(from, to));
  }
}

// Two tensors in files of three ranks: rows of one, and contiguous shards of the other's two halves.
class Parts : public testing::Test {
 protected:
  Parts() : store_(open_directory_store(folder_.path())) {
    values_.resize(static_cast<size_t>(count(kShape)));
    std::iota(values_.begin(), values_.end(), 0.0f);
    const std::vector<std::vector<BoxPart>> wide = {{{{0, 0}, {600, 700}, 0, 420000}},
                                                    {{{0, 700}, {600, 300}, 0, 100000}},
                                                    {{{0, 700}, {600, 300}, 100000, 180000}}};
    std::vector<CheckpointIndex> files;
    (void)remove_leftovers(*store_);
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<std::vector<float>> memory;
      std::vector<TensorPart> parts;
      for (const BoxPart& box : wide[static_cast<size_t>(rank)]) {
        memory.push_back(elements(box));
        parts.push_back({"wide", DType::f32, kShape, box, std::as_bytes(std::span(memory.back()))});
      }
      files.push_back(write_rank_file(*store_, {store_->staging("step-00000001"), rank}, parts));
    }
    (void)commit_save(*store_, {.step = 1}, files, {});
  }

  std::vector<float> elements(const BoxPart& part) const {
    std::vector<float> values(static_cast<size_t>(part.elements()));
    for (const BoxRun& run : overlap_of(whole_of(kShape), part))
      std::copy_n(values_.begin() + run.from, run.count, values.begin() + run.to);
    return values;
  }

  const Shape kShape{600, 1000};
  ScratchFolder folder_;
  std::unique_ptr<ByteStore> store_;
  std::vector<float> values_;
};

TEST_F(Parts, AnyPartsComeBack) {
  const CheckpointReader reader(*store_, "step-00000001", {.threads = 2, .files = FileCheck::when_used});
  Dice dice(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<BoxPart> boxes;
    std::vector<std::vector<float>> memory;
    for (int64_t n = 1 + dice.below(3); n > 0; --n) {
      boxes.push_back(dice.part_of(kShape));
      memory.emplace_back(static_cast<size_t>(boxes.back().elements()));
    }
    std::vector<WantedPart> wanted;
    for (size_t i = 0; i < boxes.size(); ++i)
      wanted.push_back({boxes[i], std::as_writable_bytes(std::span(memory[i]))});
    reader.read("wide", DType::f32, kShape, wanted);
    for (size_t i = 0; i < boxes.size(); ++i) EXPECT_TRUE(memory[i] == elements(boxes[i]));
  }
}

TEST_F(Parts, EntriesSayWhatTheyAre) {
  const std::string index = slurp(folder_ / "step-00000001/index.json");
  for (const char* name :
       {"wide[0:600,0:700]\"", "wide[0:600,700:1000]{0:100000}\"", "wide[0:600,700:1000]{100000:180000}\""})
    EXPECT_THAT(index, HasSubstr(name));
}

TEST_F(Parts, ElementsThatNobodyHasAreDamage) {
  std::string json = slurp(folder_ / "step-00000001/index.json");
  const std::string from = "\"offset\":[0,700]";
  json.replace(json.find(from), from.size(), "\"offset\":[0,600]");
  spill(folder_ / "step-00000001/index.json", json);
  spill(folder_ / "step-00000001/COMMITTED", committed_text(json));
  const CheckpointReader reader(*store_, "step-00000001");
  std::vector<float> whole(values_.size());
  try {
    reader.read("wide", DType::f32, kShape, std::as_writable_bytes(std::span(whole)));
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_THAT(error.what(), HasSubstr("its pieces of tensor wide do not have each element once"));
  }
  EXPECT_THAT(verify_checkpoint(*store_, "step-00000001").faults,
              testing::ElementsAre(HasSubstr("pieces of tensor wide")));
}

// Of any file: what is read is right, or it is said to be damaged.
TEST_F(Parts, EveryBitThatTurnsIsNoticed) {
  Dice dice(3);
  std::vector<std::string> names;
  int64_t bytes = 0;
  for (const std::string& name : store_->list("step-00000001")) {
    names.push_back(folder_ / ("step-00000001/" + name));
    bytes += static_cast<int64_t>(std::filesystem::file_size(names.back()));
  }
  for (int round = 0; round < 1000; ++round) {
    // Half of them anywhere, half in the small files and headers.
    int64_t at = round % 2 == 0 ? dice.below(bytes) : -1;
    std::string name = names[static_cast<size_t>(dice.below(static_cast<int64_t>(names.size())))];
    if (at < 0) {
      at = dice.below(std::min<int64_t>(static_cast<int64_t>(std::filesystem::file_size(name)), 700));
    } else {
      for (const std::string& candidate : names) {
        const auto size = static_cast<int64_t>(std::filesystem::file_size(candidate));
        name = candidate;
        if (at < size) break;
        at -= size;
      }
    }
    std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
    const auto turn = [&](char bit) {
      char byte = 0;
      file.seekg(at);
      file.get(byte);
      file.seekp(at);
      file.put(static_cast<char>(byte ^ bit));
      file.flush();
    };
    const auto bit = static_cast<char>(1 << dice.below(8));
    turn(bit);
    EXPECT_FALSE(verify_checkpoint(*store_, "step-00000001").faults.empty()) << name << " " << at;
    turn(bit);
  }
  EXPECT_TRUE(verify_checkpoint(*store_, "step-00000001").faults.empty());
}

}  // namespace
}  // namespace trireme
