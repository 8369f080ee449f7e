// The format against files of the reference library, and every refusal.
#include "io/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "small_state.h"

namespace trireme {
namespace {
using test::slurp;
using testing::HasSubstr;

const std::string kGolden = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/safetensors/small.safetensors";

std::string file_of(const std::string& json, size_t data_bytes) {
  const uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + json + std::string(data_bytes, 'x');
}

std::string refusal(const std::string& bytes) {
  const auto view = std::as_bytes(std::span(bytes));
  try {
    // An exact copy of the header on the heap, so that a sanitizer sees any reading past it.
    const auto size = static_cast<int64_t>(bytes.size());
    const int64_t header = safetensors_header_bytes(view, size, "f.safetensors");
    const std::vector<std::byte> head(view.begin(), view.begin() + header);
    parse_safetensors_header(head, size, "f.safetensors");
  } catch (const EnvError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Safetensors, ReadsTheReferenceLibrarysFile) {
  const SafetensorsFile file(kGolden);
  EXPECT_EQ(file.header().metadata.at("format"), "pt");
  EXPECT_EQ(file.header().entries.size(), 7u);
  const SafetensorsEntry& b = file.entry("b.bf16");
  EXPECT_EQ(dtype_of(b, kGolden), DType::bf16);
  EXPECT_EQ(b.shape, (Shape{2, 3}));
  bf16 values[6];
  std::memcpy(values, file.bytes(b).data(), sizeof values);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(to_float(values[i]), static_cast<float>(i));
  int32_t quoted[2];
  std::memcpy(quoted, file.bytes(file.entry("quote\"d")).data(), sizeof quoted);
  EXPECT_EQ(quoted[1], -2);
  EXPECT_TRUE(file.bytes(file.entry("empty")).empty());
  EXPECT_EQ(file.entry("z.f64").shape, Shape{});
}

TEST(Safetensors, WritesTheSameBytesAsTheReferenceLibrary) {
  const SafetensorsFile golden(kGolden);
  std::vector<TensorPiece> pieces;
  for (const SafetensorsEntry& entry : golden.header().entries) {
    pieces.insert(pieces.begin(), {entry.name, dtype_of(entry, kGolden), entry.shape, golden.bytes(entry)});
  }
  const SafetensorsLayout layout = lay_out_safetensors(pieces, {{"format", "pt"}});
  std::string bytes = layout.head;
  for (const size_t i : layout.order) {
    EXPECT_EQ(layout.begins[i], static_cast<int64_t>(bytes.size()));
    bytes.append(reinterpret_cast<const char*>(pieces[i].bytes.data()), pieces[i].bytes.size());
  }
  EXPECT_EQ(layout.file_bytes, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(bytes, slurp(kGolden));
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  EXPECT_EQ(refusal(file_of("{}", 0)), "accepted");
  EXPECT_EQ(refusal(file_of("{}     ", 0)), "accepted");
  EXPECT_EQ(refusal(file_of(R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})", 1)), "accepted");
  EXPECT_EQ(refusal(file_of(R"({"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})", 2)), "accepted");
}

TEST(Safetensors, DtypesWeDoNotComputeWithAreNamed) {
  for (const char* dtype : {"F16", "I64", "F8_E4M3", "BOOL"}) {
    const SafetensorsEntry entry{.name = "t", .dtype = dtype};
    try {
      dtype_of(entry, "f.safetensors");
      ADD_FAILURE() << dtype;
    } catch (const EnvError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("f.safetensors: tensor t has dtype ") + dtype));
    }
  }
}

struct BadFile {
  const char* name;
  std::string bytes;
  const char* says;
};

std::string one(const std::string& entry, size_t data_bytes) {
  return file_of("{\"t\":" + entry + "}", data_bytes);
}

class SafetensorsRefuses : public testing::TestWithParam<BadFile> {};

TEST_P(SafetensorsRefuses, WithFileAndReason) {
  const std::string said = refusal(GetParam().bytes);
  EXPECT_THAT(said, HasSubstr(GetParam().says));
  EXPECT_THAT(said, HasSubstr("f.safetensors"));
}

const std::string kA = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";

INSTANTIATE_TEST_SUITE_P(
    , SafetensorsRefuses,
    testing::Values(
        BadFile{"Empty", "", "has 0 bytes"}, BadFile{"SevenBytes", "1234567", "has 7 bytes"},
        BadFile{"GiantHeader", std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "is above 100000000"},
        BadFile{"HeaderBeyondFile", std::string("\x09\0\0\0\0\0\0\0{}", 10),
                "goes beyond the file's 10 bytes"},
        BadFile{"EmptyHeader", file_of("", 0), "does not begin with {"},
        BadFile{"LeadingSpace", file_of(" {}", 0), "does not begin with {"},
        BadFile{"NotJson", file_of("{\"a\":", 0), "is not JSON"},
        BadFile{"TwoObjects", file_of("{}{}", 0), "is not JSON"},
        BadFile{"BadUtf8", file_of("{\"\xff\":{}}", 0), "is not JSON"},
        BadFile{"Deep", file_of("{\"a\":" + std::string(100000, '['), 0), "an array in the header"},
        BadFile{"Hole", file_of("{" + kA + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}})", 8),
                "a hole"},
        BadFile{"LeadingHole", one(R"({"dtype":"U8","shape":[2],"data_offsets":[1,3]})", 3), "a hole"},
        BadFile{"Overlap", file_of("{" + kA + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", 6),
                "tensor b begins at byte 2 of the data, where 4 ends: an overlap"},
        BadFile{"SameRangeTwice",
                file_of("{" + kA + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4), "overlap"},
        BadFile{"Trailing", file_of("{" + kA + "}", 5), "1 bytes follow the last tensor"},
        BadFile{"Short", file_of("{" + kA + "}", 3), "tensor a lies at bytes 0 to 4 of 3"},
        BadFile{"SameNameTwice", file_of("{" + kA + "," + kA + "}", 4), "tensor a stands twice"},
        BadFile{"SameFieldTwice", one(R"({"dtype":"U8","dtype":"F32","shape":[4],"data_offsets":[0,4]})", 4),
                "field dtype stands twice"},
        BadFile{"MetadataTwice", file_of(R"({"__metadata__":{},"__metadata__":{}})", 0), "stands twice"},
        BadFile{"MetadataNumber", file_of(R"({"__metadata__":{"a":1}})", 0), "the number 1"},
        BadFile{"WrongProduct", one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
                "tensor t of F32 [3] needs 12 bytes; its data_offsets give 8"},
        BadFile{"Overflow", one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})", 0),
                "tensor t: shape [4294967296,4294967296] overflows"},
        BadFile{"OverflowInBytes",
                one(R"({"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]})", 0), "overflows"},
        BadFile{"BeyondInt64",
                one(R"({"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,0]})", 0),
                "the number 18446744073709551615"},
        BadFile{"BeyondUint64",
                one(R"({"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,0]})", 0),
                "the number 99999999999999999999"},
        BadFile{"Negative", one(R"({"dtype":"U8","shape":[-1],"data_offsets":[0,0]})", 0), "the number -1"},
        BadFile{"Fraction", one(R"({"dtype":"U8","shape":[1.0],"data_offsets":[0,1]})", 1), "the number 1.0"},
        BadFile{"BackwardRange", one(R"({"dtype":"U8","shape":[4],"data_offsets":[4,0]})", 4),
                "bytes 4 to 0"},
        BadFile{"ThreeOffsets", one(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4,4]})", 4),
                "has 3 numbers"},
        BadFile{"UnknownDtype", one(R"({"dtype":"F12","shape":[4],"data_offsets":[0,6]})", 6),
                "tensor t has the unknown dtype F12"},
        BadFile{"HalfByte", one(R"({"dtype":"F4","shape":[3],"data_offsets":[0,1]})", 1),
                "ends within a byte"},
        BadFile{"NoShape", one(R"({"dtype":"U8","data_offsets":[0,4]})", 4), "tensor t has no shape"},
        BadFile{"UnknownField", one(R"({"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1})", 0),
                "unknown field x"},
        BadFile{"NestedShape", one(R"({"dtype":"U8","shape":[[1]],"data_offsets":[0,1]})", 1), "an array"},
        BadFile{"EntryIsNumber", file_of(R"({"t":5})", 0), "the number 5"},
        BadFile{"EntryIsString", file_of(R"({"t":"x"})", 0), "a string"},
        BadFile{"EntryIsNull", file_of(R"({"t":null})", 0), "null"},
        BadFile{"RootIsArray", file_of("[]", 0), "does not begin with {"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = slurp(kGolden);
  ASSERT_EQ(refusal(whole), "accepted");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(refusal(whole.substr(0, n)), "accepted") << n;
}

}  // namespace
}  // namespace trireme
