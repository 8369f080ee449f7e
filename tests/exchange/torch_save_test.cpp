// Single tensors that torch.save wrote, pickles of the same form that say something else, and damage.
#include "exchange/torch_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "refusal.h"
#include "scratch_folder.h"
#include "zip_bytes.h"

namespace trireme {
namespace {
using namespace test;
using testing::AllOf;
using testing::HasSubstr;

const std::string kSaved = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch_dcp/saved/";

struct TensorWords {
  std::string type = "FloatStorage";
  int64_t elements = 6;
  int64_t first = 0;
  std::vector<int64_t> shape = {2, 3};
  std::vector<int64_t> strides = {3, 1};
};

std::string integers(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

std::string tensor_words(const TensorWords& w) {
  const std::string id =
      tuple({text("storage"), global("torch", w.type), text("0"), text("cpu"), integer(w.elements)}) + "Q";
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              {id, integer(w.first), integers(w.shape), integers(w.strides), "\x89", "N"});
}

std::string saved_zip(const TensorWords& words, const std::string& data = std::string(24, 'x'),
                      const std::string& order = "little") {
  return zip_of({{"archive/data.pkl", pickle(tensor_words(words))},
                 {"archive/byteorder", order},
                 {"archive/data/0", data}});
}

std::string refused(const std::string& bytes, ElementCheck check = ElementCheck::verify) {
  return refusal([&] {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees any reading past it
    read_saved_tensor(std::as_bytes(std::span(exact)), check, "f.pt");
  });
}

TEST(TorchSave, ReadsPartOfAStorage) {
  const std::string bytes = slurp(kSaved + "view.pt");
  const SavedTensor tensor = read_saved_tensor(bytes_of(bytes), ElementCheck::verify, "view.pt");
  EXPECT_EQ(tensor.shape, (Shape{3, 2}));
  EXPECT_EQ(name_of(tensor.dtype), "F32");
  float values[6];
  std::memcpy(values, bytes.data() + tensor.begin, sizeof values);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i], static_cast<float>(4 + i));
}

TEST(TorchSave, OtherStridesAreRefused) {
  EXPECT_THAT(refused(slurp(kSaved + "transposed.pt")),
              HasSubstr("the tensor [3,2] has the strides [1,3]; save it with .contiguous()"));
  EXPECT_EQ(refused(saved_zip({.shape = {1, 6}, .strides = {77, 1}})),
            "accepted");  // of a dim of 1: says nothing
  EXPECT_EQ(refused(saved_zip({.elements = 0, .shape = {0, 3}, .strides = {9, 9}}, "")), "accepted");
}

TEST(TorchSave, ParametersAreTensors) {
  const std::string parameter = call(global("torch._utils", "_rebuild_parameter"),
                                     {tensor_words({}), "\x88", global("collections", "OrderedDict") + ")R"});
  EXPECT_EQ(parse_saved_tensor(bytes_of(pickle(parameter)), "f.pt").shape, (Shape{2, 3}));
}

TEST(TorchSave, WhatContradictsItselfIsRefused) {
  EXPECT_EQ(refused(saved_zip({})), "accepted");
  EXPECT_THAT(refused(saved_zip({.first = 1})), HasSubstr("6 elements from 1 do not fit a storage of 6"));
  EXPECT_THAT(refused(saved_zip({.first = INT64_MAX})), HasSubstr("do not fit"));
  EXPECT_THAT(refused(saved_zip({.shape = {INT64_MAX, INT64_MAX}})), HasSubstr("make no tensor"));
  EXPECT_THAT(refused(saved_zip({.shape = {6}})), HasSubstr("make no tensor"));
  EXPECT_THAT(refused(saved_zip({.shape = {-2, 3}})), HasSubstr("-2"));
  EXPECT_THAT(refused(saved_zip({}, std::string(20, 'x'))), HasSubstr("archive/data/0 has 20 bytes"));
  EXPECT_THAT(refused(saved_zip({.type = "DoubleStorage"})), HasSubstr("6 elements of F64"));
  EXPECT_THAT(refused(saved_zip({.type = "LongStorage"})), HasSubstr("it names torch.LongStorage"));
  EXPECT_THAT(refused(saved_zip({}, std::string(24, 'x'), "big")), HasSubstr("byteorder is big"));
  EXPECT_THAT(refused(zip_of({{"archive/version", "3"}})), HasSubstr("without data.pkl"));
  EXPECT_THAT(refused(zip_of({{"a/data.pkl", ""}, {"b/data.pkl", ""}})), HasSubstr("both in it"));
  EXPECT_THAT(refused(zip_of({{"a/data.pkl", pickle(tensor_words({}))}})), HasSubstr("a/data/0, which has"));
  EXPECT_THAT(refused(zip_of({{"a/data.pkl", pickle(integer(7))}})), HasSubstr("the integer 7 where"));
  EXPECT_THAT(refused(zip_of({{"a/data.pkl", pickle(call(global("os", "system"), {text("id")}))}})),
              AllOf(HasSubstr("f.pt, data.pkl"), HasSubstr("it names os.system")));
  EXPECT_THAT(refused(zip_of({{"a/data.pkl", std::string(2 << 20, 'x')}})),
              HasSubstr("make no sense for a tensor"));
}

TEST(TorchSave, ElementsAreVerifiedUnlessSkipped) {
  std::string bytes = saved_zip({});
  bytes[bytes.find("xxxx")] = 'y';
  EXPECT_THAT(refused(bytes), HasSubstr("member archive/data/0 has the checksum"));
  EXPECT_EQ(refused(bytes, ElementCheck::skip), "accepted");
  std::string head = saved_zip({});
  head[head.find("cpu")] = 'g';
  EXPECT_THAT(refused(head, ElementCheck::skip), HasSubstr("member archive/data.pkl has the checksum"));
}

// Whatever byte is changed, the tensor is refused or the same.
TEST(TorchSave, NoDamageIsSilent) {
  const std::string whole = slurp(kSaved + "view.pt");
  const auto read = [](const std::string& bytes) {
    const SavedTensor tensor = read_saved_tensor(bytes_of(bytes), ElementCheck::verify, "view.pt");
    return std::pair(tensor.shape, bytes.substr(static_cast<size_t>(tensor.begin), 24));
  };
  const auto right = read(whole);
  int refusals = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      const std::string said = refusal([&] { ASSERT_EQ(read(bytes), right) << i; });
      refusals += said != "accepted" ? 1 : 0;
    }
  }
  EXPECT_GT(refusals, 5000);
}

}  // namespace
}  // namespace trireme
