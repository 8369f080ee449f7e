// Folders that torch wrote, read to the bytes that it was given; damage; and folders that no torch writes.
#include "exchange/torch_dcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "exchange/torch_dcp_metadata.h"
#include "io/checkpoint/safetensors.h"
#include "refusal.h"
#include "scratch_folder.h"
#include "zip_bytes.h"

namespace trireme {
namespace {
using namespace test;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kGolden = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch_dcp/";

size_t element_bytes(ForeignDType dtype) {
  return dtype == ForeignDType::f32 ? 4 : dtype == ForeignDType::f64 ? 8 : 2;
}

// The whole tensor, row-major, element by element out of its pieces; '?' where no piece is.
std::string gather(const ForeignTensors& in, const ForeignTensor& tensor) {
  const size_t size = element_bytes(tensor.dtype);
  std::string whole(static_cast<size_t>(count(tensor.shape)) * size, '?');
  for (const ForeignPiece& piece : tensor.pieces) {
    const std::string file = slurp(in.files[piece.file]);
    for (int64_t i = 0; i < count(piece.shape); ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (size_t d = piece.shape.size(); d-- > 0;) {
        at += (piece.offset[d] + rest % piece.shape[d]) * stride;
        rest /= piece.shape[d];
        stride *= tensor.shape[d];
      }
      whole.replace(static_cast<size_t>(at) * size, size, file,
                    static_cast<size_t>(piece.begin) + static_cast<size_t>(i) * size, size);
    }
  }
  return whole;
}

struct Plain {
  std::string dtype;
  Shape shape;
  std::string bytes;
  bool operator==(const Plain&) const = default;
};
using Plains = std::map<std::string, Plain>;

Plains gather_all(const ForeignTensors& in) {
  Plains all;
  for (const auto& [name, tensor] : in.tensors)
    all[name] = {std::string(name_of(tensor.dtype)), tensor.shape, gather(in, tensor)};
  return all;
}

// What the script says that it wrote.
Plains expected(const std::string& name) {
  const SafetensorsFile file(kGolden + name + ".expected.safetensors");
  Plains all;
  for (const SafetensorsEntry& entry : file.header().entries) {
    const auto bytes = file.bytes(entry);
    all[entry.name] = {entry.dtype, entry.shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  }
  return all;
}

void expect_golden(const std::string& name, std::vector<std::string>* notes = nullptr) {
  TorchDcpOptions options;
  if (notes) options.on_note = [notes](const std::string& note) { notes->push_back(note); };
  const ForeignTensors read = read_torch_dcp(kGolden + name, options);
  EXPECT_EQ(read.from, kGolden + name);
  EXPECT_TRUE(is_torch_dcp(kGolden + name));
  const Plains right = expected(name), got = gather_all(read);
  EXPECT_EQ(got.size(), right.size());
  for (const auto& [key, plain] : right) {
    ASSERT_TRUE(got.contains(key)) << key;
    EXPECT_EQ(got.at(key), plain) << key;
  }
}

TEST(TorchDcp, ReadsOneProcess) {
  std::vector<std::string> notes;
  expect_golden("single", &notes);
  EXPECT_THAT(
      notes,
      ElementsAre("left out: 1 entries that are no tensors, the first is nested.note",
                  "left out: 1 entries that are an optimizer's, the first is optimizer.state.f32.exp_avg",
                  "left out: 1 entries that have other dtypes than F32, BF16, F16 and F64, the first is "
                  "train_state.step"));
}

TEST(TorchDcp, ReadsShardsOfFsdp2) {
  expect_golden("fsdp2");
  const ForeignTensors read = read_torch_dcp(kGolden + "fsdp2");
  EXPECT_EQ(read.files.size(), 2u);
  EXPECT_EQ(read.tensors.at("model.1.weight").pieces.size(), 2u);
}

TEST(TorchDcp, ReadsShardsAlongTwoDims) {
  expect_golden("grid");
  EXPECT_EQ(read_torch_dcp(kGolden + "grid").tensors.at("layers.0.wq").pieces.size(), 4u);
}

TEST(TorchDcp, ReadsSafetensorsShards) {
  std::vector<std::string> notes;
  expect_golden("hf_sharded", &notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("no checksums")));
}

TEST(TorchDcp, SaysWhenThereAreNoChecksums) {
  std::vector<std::string> notes;
  const ForeignTensors read = read_torch_dcp(
      kGolden + "no_crc", {.on_note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_THAT(notes, ElementsAre(HasSubstr("1 of 1 chunks have no checksums")));
  const float right[] = {0, 1, 2, 3};
  const std::string got = gather(read, read.tensors.at("w"));
  ASSERT_EQ(got.size(), sizeof right);
  EXPECT_EQ(std::memcmp(got.data(), right, sizeof right), 0);
}

// ---- damage ----

// A copy of a golden, to change.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    fs::copy(kGolden + name, folder_.path(), fs::copy_options::recursive);
  }
  std::string path() const { return folder_.path(); }
  std::string slurp(const std::string& file) const { return test::slurp(folder_ / file); }
  void spill(const std::string& file, const std::string& bytes) const { test::spill(folder_ / file, bytes); }
  void remove(const std::string& file) const { fs::remove(folder_ / file); }
  std::string refused(const TorchDcpOptions& options = {}) const {
    return refusal([&] { read_torch_dcp(path(), options); });
  }

 private:
  ScratchFolder folder_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(TorchDcp, DamagedElementsAreFoundOnOpening) {
  const Copy copy("grid");
  const ForeignTensors read = read_torch_dcp(copy.path());
  const ForeignPiece& piece = read.tensors.at("layers.0.wq").pieces[1];
  const std::string name = fs::path(read.files[piece.file]).filename().string();
  std::string bytes = copy.slurp(name);
  bytes[static_cast<size_t>(piece.begin)] ^= 1;
  copy.spill(name, bytes);
  EXPECT_THAT(copy.refused(),
              AllOf(HasSubstr(name), HasSubstr("tensor layers.0.wq"), HasSubstr("has the checksum")));
  EXPECT_EQ(copy.refused({.check = ElementCheck::skip}), "accepted");
}

TEST(TorchDcp, MissingFilesAndMetadataAreSaid) {
  const Copy copy("grid");
  copy.remove("__2_0.distcp");
  EXPECT_THAT(copy.refused(), AllOf(HasSubstr("cannot open"), HasSubstr("__2_0.distcp")));
  copy.spill("__2_0.distcp", "");
  EXPECT_THAT(copy.refused(), HasSubstr("the file has only 0 bytes"));
  copy.remove(".metadata");
  EXPECT_THAT(copy.refused(), HasSubstr("its save was never finished"));
  EXPECT_TRUE(is_torch_dcp(copy.path()));
  copy.spill("__0.metadata", "");
  EXPECT_THAT(copy.refused(), HasSubstr("a .metadata per rank"));
}

TEST(TorchDcp, OtherFoldersAreTheUsersMistake) {
  const ScratchFolder folder;
  const auto said = [](const std::string& dir) {
    try {
      read_torch_dcp(dir);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(said(folder / "none"), HasSubstr("none is no folder"));
  EXPECT_THAT(said(folder.path()), HasSubstr("neither .metadata nor .safetensors"));
  EXPECT_FALSE(is_torch_dcp(folder.path()));
  fs::copy_file(kGolden + "single.expected.safetensors", folder / "model.safetensors");
  EXPECT_THAT(said(folder.path()), HasSubstr("no part of a torch-dcp folder"));
}

TEST(TorchDcp, MetadataCutAnywhereIsRefused) {
  const std::string whole = slurp(kGolden + "single/.metadata");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(refusal([&] { parse_dcp_metadata(std::as_bytes(std::span(cut)), ".metadata"); }), "accepted")
        << size;
  }
}

TEST(TorchDcp, PartsCutAnywhereAreRefused) {
  const Copy copy("no_crc");
  const std::string whole = copy.slurp("__0_0.distcp");
  for (size_t size = 0; size < whole.size(); ++size) {
    copy.spill("__0_0.distcp", whole.substr(0, size));
    ASSERT_NE(copy.refused(), "accepted") << size;
  }
}

// Whatever bit of .metadata is changed: a tensor that is read under its own name has its own dtype, shape and
// bytes.
void flip_metadata(const std::string& name, int bits_apart) {
  const Copy copy(name);
  const std::string whole = copy.slurp(".metadata");
  const Plains right = expected(name);
  int refusals = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); bit += static_cast<size_t>(bits_apart)) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << (bit % 8));
    copy.spill(".metadata", bytes);
    Plains got;
    refusals += refusal([&] { got = gather_all(read_torch_dcp(copy.path())); }) != "accepted" ? 1 : 0;
    for (const auto& [key, plain] : got) {
      if (right.contains(key) && !right.at(key).bytes.empty()) {
        ASSERT_EQ(plain, right.at(key)) << key << " with bit " << bit << " changed";
      }
    }
  }
  EXPECT_GT(refusals, 500);
}

TEST(TorchDcp, NoDamageOfMetadataIsSilent) {
  flip_metadata("grid", 3);
  flip_metadata("single", 5);
}

// ---- folders by hand ----

const std::string kOf = "torch.distributed.checkpoint.metadata";

std::string size(const std::vector<int64_t>& sizes) {
  std::vector<std::string> items;
  for (const int64_t s : sizes) items.push_back(integer(s));
  return call(global("torch", "Size"), {tuple(items)});
}

std::string chunk(const std::vector<int64_t>& offsets, const std::vector<int64_t>& sizes) {
  return object(global(kOf, "ChunkStorageMetadata"),
                record({{"offsets", size(offsets)}, {"sizes", size(sizes)}}));
}

std::string tensor(const std::string& dtype, const std::vector<int64_t>& sizes,
                   const std::vector<std::string>& chunks) {
  const std::string properties =
      object(global(kOf, "TensorProperties"), tuple({global("torch", dtype), "N"}));
  return object(global(kOf, "TensorStorageMetadata"),
                record({{"properties", properties}, {"size", size(sizes)}, {"chunks", list(chunks)}}));
}

std::string index(const std::string& name, const std::vector<int64_t>& offset) {
  return object(global(kOf, "MetadataIndex"),
                record({{"fqn", text(name)}, {"index", "N"}, {"offset", size(offset)}}));
}

std::string stored(const std::string& path, int64_t offset, int64_t length,
                   std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.end(),
              {{"relative_path", text(path)}, {"offset", integer(offset)}, {"length", integer(length)}});
  return object(global("torch.distributed.checkpoint.filesystem", "_StorageInfo"), record(more));
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string metadata(const Entries& tensors, const Entries& storage) {
  return pickle(object(global(kOf, "Metadata"),
                       record({{"state_dict_metadata", record(tensors)}, {"storage_data", dict(storage)}})));
}

std::string refused(const std::string& bytes) {
  return refusal([&] { parse_dcp_metadata(bytes_of(bytes), ".metadata"); });
}

// One tensor "w" [4], stored as said.
std::string refused_w(const Entries& storage, const std::vector<std::string>& chunks = {chunk({0}, {4})}) {
  return refused(metadata({{"w", tensor("float32", {4}, chunks)}}, storage));
}

TEST(TorchDcpMetadata, PathsOutOfTheFolderAreRefused) {
  EXPECT_EQ(refused_w({{index("w", {0}), stored("__0_0.distcp", 0, 100)}}), "accepted");
  for (const char* path : {"../__0_0.distcp", "/etc/passwd", "..", ".", "a/b", "..\\a"})
    EXPECT_THAT(refused_w({{index("w", {0}), stored(path, 0, 100)}}),
                AllOf(HasSubstr("tensor w"), HasSubstr(path), HasSubstr("leads out of the folder")));
  EXPECT_THAT(refused_w({{index("w", {0}), stored("", 0, 100)}}), HasSubstr("a file's name"));
  EXPECT_THAT(refused_w({{index("w", {0}), stored(std::string("a\0b", 3), 0, 100)}}),
              HasSubstr("a file's name"));
}

TEST(TorchDcpMetadata, TransformedBytesAreRefused) {
  EXPECT_THAT(refused_w({{index("w", {0}),
                          stored("f", 0, 9, {{"transform_descriptors", list({text("stream.zstd")})}})}}),
              HasSubstr("tensor w: its bytes are transformed"));
  EXPECT_EQ(refused_w({{index("w", {0}), stored("f", 0, 9, {{"transform_descriptors", "N"}})}}), "accepted");
}

TEST(TorchDcpMetadata, ChunksMustCoverTheTensorAndLieApart) {
  const Entries two = {{index("w", {0}), stored("f", 0, 10)}, {index("w", {2}), stored("f", 10, 10)}};
  EXPECT_EQ(refused_w(two, {chunk({0}, {2}), chunk({2}, {2})}), "accepted");
  EXPECT_EQ(refused_w(two, {chunk({0}, {2}), chunk({2}, {2}), chunk({4}, {0})}),
            "accepted");  // an empty shard
  EXPECT_THAT(refused_w(two, {chunk({0}, {2})}),
              HasSubstr("tensor w [4]: its 1 pieces do not cover it once"));
  EXPECT_THAT(refused_w(two, {chunk({0}, {3}), chunk({2}, {2})}), HasSubstr("do not cover it once"));
  EXPECT_THAT(refused_w(two, {chunk({0}, {2}), chunk({2}, {3})}), HasSubstr("is not inside of it"));
  EXPECT_THAT(refused_w(two, {chunk({0}, {1}), chunk({1}, {3})}),
              HasSubstr("nothing is stored for its chunk at [1]"));
  EXPECT_THAT(refused_w({{index("w", {0}), stored("f", 0, 10)}, {index("w", {0}), stored("f", 10, 10)}}),
              HasSubstr("a chunk is stored twice"));
  EXPECT_THAT(refused_w({{index("w", {0}), stored("f", 0, 11)}, {index("w", {2}), stored("f", 10, 10)}},
                        {chunk({0}, {2}), chunk({2}, {2})}),
              HasSubstr("tensors w and w share bytes of f"));
  EXPECT_THAT(refused_w({{index("w", {0}), stored("f", INT64_MAX, 10)}}), HasSubstr("overflow"));
  EXPECT_THAT(refused_w({{index("w", {0}), stored("f", -1, 10)}}),
              HasSubstr("the integer -1 where an offset"));
}

TEST(TorchDcpMetadata, WhatIsNotOfTheFormatIsRefused) {
  EXPECT_THAT(refused(pickle(call(global("os", "system"), {text("id")}))), HasSubstr("it names os.system"));
  EXPECT_THAT(refused(pickle(integer(1))), HasSubstr("the integer 1 where"));
  EXPECT_THAT(refused(pickle(object(global(kOf, "Metadata"), record({})))),
              HasSubstr("no field storage_data"));
  EXPECT_THAT(refused(pickle(object(global(kOf, "Metadata"), "N"))), HasSubstr("a record without fields"));
  EXPECT_THAT(refused(metadata({{"w", integer(3)}}, {})), HasSubstr("the integer 3 where"));
  const std::string w = tensor("float32", {0}, {});
  EXPECT_THAT(refused(metadata({{"w", w}, {"w", w}}, {})), HasSubstr("w stands twice"));
  EXPECT_THAT(refused(metadata({{std::string(5000, 'n'), w}}, {})), HasSubstr("a tensor's name"));
  EXPECT_THAT(refused(metadata({{"w", tensor("float32", std::vector<int64_t>(65, 1), {})}}, {})),
              HasSubstr("size"));
  EXPECT_THAT(refused(metadata({{"w", tensor("float32", {INT64_MAX, 3}, {})}}, {})), HasSubstr("overflows"));
  EXPECT_EQ(refused(metadata({{"w", tensor("int64", {INT64_MAX, 3}, {})}}, {})), "accepted");  // left out
}

// A short file in which very many tensors have the same long list must not take the product of both.
TEST(TorchDcpMetadata, SharedListsCostNoMoreThanTheFile) {
  std::vector<std::string> chunks(20000, chunk({0}, {0}));
  const std::string properties = object(global(kOf, "TensorProperties"), tuple({global("torch", "float32")}));
  Entries tensors;
  for (int i = 0; i < 20000; ++i) {
    const std::string shared = i == 0 ? list(chunks) + "q\7" : "h\7";
    tensors.push_back({std::to_string(i), object(global(kOf, "TensorStorageMetadata"),
                                                 record({{"properties", i == 0 ? properties + "q\6" : "h\6"},
                                                         {"size", size({0})},
                                                         {"chunks", shared}}))});
  }
  EXPECT_THAT(refused(metadata(tensors, {})), HasSubstr("its lists are longer than the file"));
}

TEST(TorchDcpMetadata, OptimizersAreToldByTheirNames) {
  for (const char* name : {"optimizer.state.w.exp_avg", "optim.w", "state.optimizers.Adam.w", "optimizer"})
    EXPECT_TRUE(is_of_optimizer(name)) << name;
  for (const char* name : {"model.w", "a.b.optimizer.w", "optimizer_like.w", "w", ""})
    EXPECT_FALSE(is_of_optimizer(name)) << name;
}

TEST(TorchDcp, ZipsThatContradictMetadataAreRefused) {
  const Copy copy("no_crc");
  const int64_t bytes = static_cast<int64_t>(copy.slurp("__0_0.distcp").size());
  const auto said = [&](const std::string& dtype, const std::vector<int64_t>& shape) {
    copy.spill(".metadata", metadata({{"w", tensor(dtype, shape, {chunk({0, 0}, shape)})}},
                                     {{index("w", {0, 0}), stored("__0_0.distcp", 0, bytes)}}));
    return copy.refused();
  };
  EXPECT_EQ(said("float32", {2, 2}), "accepted");
  EXPECT_THAT(said("float32", {1, 4}), HasSubstr("it holds F32 [2,2], and .metadata says F32 [1,4]"));
  EXPECT_THAT(said("bfloat16", {2, 2}), HasSubstr(".metadata says BF16 [2,2]"));
}

TEST(TorchDcp, SafetensorsShardsThatDoNotFitAreRefused) {
  const Copy copy("hf_sharded");
  const std::string first = "shard-00001-model-00001-of-00001.safetensors";
  const std::string whole = copy.slurp(first);
  copy.remove(first);
  EXPECT_THAT(copy.refused(), AllOf(HasSubstr("tensor a"), HasSubstr("is a file missing?")));
  copy.spill(first, replaced(whole, "[0, 0]", "[0, 9]"));
  EXPECT_THAT(copy.refused(), HasSubstr("do not cover it once"));
  copy.spill(first, replaced(whole, "[0, 0]", "[[[[[["));
  EXPECT_THAT(copy.refused(), HasSubstr("nested too deeply"));
  copy.spill(first, replaced(whole, "[0, 0]", "[[0]] "));
  EXPECT_THAT(copy.refused(), HasSubstr("an offset is [0]"));
  copy.spill(first, replaced(whole, "[0, 0]", "[-1,0]"));
  EXPECT_THAT(copy.refused(), HasSubstr("an offset is -1"));
  copy.spill(first, replaced(whole, "[0, 0]", "[ 0 0]"));
  EXPECT_THAT(copy.refused(), HasSubstr("no JSON object"));
  copy.spill(first, replaced(whole, "[0, 0]", "[  0 ]"));
  EXPECT_THAT(copy.refused(), HasSubstr("has the offset [0]"));
}

}  // namespace
}  // namespace trireme
