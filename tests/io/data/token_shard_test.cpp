// Every format is read, and every way in which a file can disagree with itself is refused with the numbers.
#include "io/data/token_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/data/shard_files.h"

namespace trireme {
namespace {

using namespace shard_files;

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> all_ids(const TokenShard& shard) {
  std::vector<int32_t> ids(static_cast<size_t>(shard.layout.count));
  read_tokens(shard.layout, 0, shard.layout.count, ids.data());
  return ids;
}

Bytes bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }

std::string refusal(const std::string& path) {
  return message_of<UserError>([&] { open_shard(path); });
}

TEST(TokenShard, ReadsLlmC) {
  ScratchFolder dir;
  spill(dir / "a.bin", llm_c_bytes({50256, 7, 65535}));
  const TokenShard shard = open_shard(dir / "a.bin");
  EXPECT_EQ(shard.layout.format, ShardFormat::llm_c);
  EXPECT_FALSE(shard.layout.has_documents);
  EXPECT_THAT(all_ids(shard), ElementsAre(50256, 7, 65535));
  spill(dir / "l.bin", llm_c_bytes<uint32_t>({128000, 5}, 20240801, 7));
  EXPECT_THAT(all_ids(open_shard(dir / "l.bin")), ElementsAre(128000, 5));
}

TEST(TokenShard, RefusesBrokenLlmC) {
  ScratchFolder dir;
  const std::string good = llm_c_bytes({1, 2, 3});
  spill(dir / "short.bin", good.substr(0, good.size() - 1));
  EXPECT_THAT(refusal(dir / "short.bin"),
              HasSubstr("truncated: 3 tokens of u16 make 1030 bytes with the header, the file has 1029"));
  spill(dir / "long.bin", good + "x");
  EXPECT_THAT(refusal(dir / "long.bin"), HasSubstr("too long"));
  spill(dir / "header.bin", good.substr(0, 40));
  EXPECT_THAT(refusal(dir / "header.bin"), HasSubstr("1024 bytes of header, the file has 40"));
  spill(dir / "version.bin", llm_c_bytes({1}, 20240520, 9));
  EXPECT_THAT(refusal(dir / "version.bin"), HasSubstr("version 9"));
  std::string negative = good;
  negative[11] = '\x80';
  spill(dir / "negative.bin", negative);
  EXPECT_THAT(refusal(dir / "negative.bin"), HasSubstr("negative"));
  spill(dir / "noise.bin", "hello");
  EXPECT_THAT(refusal(dir / "noise.bin"), HasSubstr("no token shard"));
}

template <class T>
void expect_megatron_type(uint8_t code) {
  ScratchFolder dir;
  spill(dir / "m.bin", packed<T>(std::vector<int>{1, 2, 100, 4, 5}));
  spill(dir / "m.idx", megatron_index({2, 0, 3}, code, sizeof(T)));
  for (const char* name : {"m.bin", "m.idx"}) {
    const TokenShard shard = open_shard(dir / name);
    EXPECT_EQ(shard.layout.format, ShardFormat::megatron);
    EXPECT_EQ(size_of(shard.layout.type), static_cast<int64_t>(sizeof(T)));
    EXPECT_THAT(all_ids(shard), ElementsAre(1, 2, 100, 4, 5));
    ASSERT_EQ(shard.layout.documents, 3);
    EXPECT_EQ(document_end(shard.layout, 0), 2);
    EXPECT_EQ(document_end(shard.layout, 1), 2);
    EXPECT_EQ(document_end(shard.layout, 2), 5);
    EXPECT_EQ(document_at(shard.layout, 1), 0);
    EXPECT_EQ(document_at(shard.layout, 2), 2);
  }
}

TEST(TokenShard, ReadsMegatronOfEveryIntegerType) {
  expect_megatron_type<uint8_t>(1);
  expect_megatron_type<int8_t>(2);
  expect_megatron_type<int16_t>(3);
  expect_megatron_type<int32_t>(4);
  expect_megatron_type<int64_t>(5);
  expect_megatron_type<uint16_t>(8);
}

TEST(TokenShard, RefusesBrokenMegatron) {
  const std::string bin = packed<uint16_t>(counting(0, 5));
  const std::string index = megatron_index({2, 3}, 8, 2);
  auto refused = [&](const std::string& b, const std::string& i) {
    return message_of<UserError>([&] { parse_megatron("m.bin", bytes_of(b), "m.idx", bytes_of(i)); });
  };
  auto with = [&](size_t at, auto value) {
    std::string changed = index;
    changed.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
    return changed;
  };
  EXPECT_EQ(refused(bin, index), "");
  EXPECT_THAT(refused(bin.substr(1), index), HasSubstr("m.idx describes 10 bytes, the file has 9"));
  EXPECT_THAT(refused(bin + "xx", index), HasSubstr("too long"));
  for (size_t length = 0; length < index.size(); ++length)
    EXPECT_NE(refused(bin, index.substr(0, length)), "") << length;
  EXPECT_THAT(refused(bin, index + "xyz"), HasSubstr("too long"));
  EXPECT_THAT(refused(bin, with(9, uint64_t{2})), HasSubstr("version 2"));
  EXPECT_THAT(refused(bin, with(17, uint8_t{7})), HasSubstr("floating-point"));
  EXPECT_THAT(refused(bin, with(17, uint8_t{99})), HasSubstr("dtype code 99"));
  EXPECT_THAT(refused(bin, with(18, uint64_t{1} << 63)), HasSubstr("cannot hold"));
  EXPECT_THAT(refused(bin, with(26, ~uint64_t{0})), HasSubstr("cannot hold"));
  EXPECT_THAT(refused(bin, with(34, int32_t{-1})), HasSubstr("negative length"));
  EXPECT_THAT(refused(bin, with(42, int64_t{2})), HasSubstr("byte 2"));
  EXPECT_THAT(refused(bin, with(58, int64_t{1})), HasSubstr("document 0"));
  EXPECT_THAT(refused(bin, with(66, int64_t{1} << 62)), HasSubstr("document 1"));
  EXPECT_THAT(refused(bin, with(74, int64_t{1})), HasSubstr("ends at sequence 1 of 2"));
  std::string modes = index;
  EXPECT_EQ(refused(bin, modes + std::string(2, '\0')), "");
  EXPECT_THAT(refused(bin, modes + "\1\1"), HasSubstr("multimodal"));
}

TEST(TokenShard, ReadsDatatrove) {
  ScratchFolder dir;
  spill(dir / "0.ds", packed<uint32_t>(std::vector<int>{70000, 2, 3}));
  spill(dir / "0.ds.index", packed<uint64_t>(std::vector<int>{1, 3}));
  TokenShard shard = open_shard(dir / "0.ds");  // the width follows from the index
  EXPECT_THAT(all_ids(shard), ElementsAre(70000, 2, 3));
  EXPECT_EQ(shard.layout.documents, 2);
  EXPECT_EQ(document_end(shard.layout, 0), 1);
  spill(dir / "0.ds.metadata", "gpt2|4\n3\n3 T");
  EXPECT_THAT(all_ids(open_shard(dir / "0.ds")), ElementsAre(70000, 2, 3));
  spill(dir / "0.ds.metadata", "gpt2|2\n3\n3 T");
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("3 tokens of 2 bytes are expected, the file has 12"));
  spill(dir / "0.ds.metadata", "gpt2|3\n3\n3 T");
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("ids of 3 bytes"));
}

TEST(TokenShard, RefusesBrokenDatatrove) {
  ScratchFolder dir;
  spill(dir / "0.ds", packed<uint16_t>(counting(0, 4)));
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("has no"));
  spill(dir / "0.ds.index", packed<uint64_t>(std::vector<int>{3, 1, 4}));
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("before its start"));
  spill(dir / "0.ds.index", std::string(9, '\0'));
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("multiple of 8"));
  spill(dir / "0.ds.index", packed<uint64_t>(std::vector<int64_t>{int64_t{1} << 62}));
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("cannot be read"));
  spill(dir / "0.ds.metadata", "x|4");  // 2^62 * 4 is 0 modulo 2^64
  EXPECT_THAT(refusal(dir / "0.ds"), HasSubstr("does not match"));
}

TEST(TokenShard, ReadsPlainByExtension) {
  ScratchFolder dir;
  spill(dir / "a.u16", packed<uint16_t>(std::vector<int>{1, 40000}));
  spill(dir / "a.u32", packed<uint32_t>(std::vector<int>{1, 40000}));
  spill(dir / "empty.u16", "");
  spill(dir / "odd.u32", "12345");
  EXPECT_THAT(all_ids(open_shard(dir / "a.u16")), ElementsAre(1, 40000));
  EXPECT_THAT(all_ids(open_shard(dir / "a.u32")), ElementsAre(1, 40000));
  EXPECT_EQ(open_shard(dir / "empty.u16").layout.count, 0);
  EXPECT_THAT(refusal(dir / "odd.u32"), HasSubstr("5 bytes are no multiple of the 4 bytes of a u32 id"));
  EXPECT_THAT(message_of<EnvError>([&] { open_shard(dir / "none.u16"); }), HasSubstr("No such file"));
}

// A Megatron .bin may begin with any bytes, llm.c's magic number among them: the index decides.
TEST(TokenShard, TheIndexDecidesBeforeTheMagicNumber) {
  ScratchFolder dir;
  spill(dir / "m.bin", packed<int32_t>(std::vector<int>{20240520, 1}));
  spill(dir / "m.idx", megatron_index({2}, 4, 4));
  EXPECT_EQ(open_shard(dir / "m.bin").layout.format, ShardFormat::megatron);
}

// A hole in the file costs no disk; the last ids lie beyond 2^31 bytes and 2^31 ids.
TEST(TokenShard, OffsetsHave64Bits) {
  ScratchFolder dir;
  const int64_t count = (int64_t{1} << 31) + 5;
  spill(dir / "a.u16", "");
  std::filesystem::resize_file(dir / "a.u16", static_cast<uintmax_t>(count * 2));
  std::fstream(dir / "a.u16", std::ios::in | std::ios::out | std::ios::binary).seekp((count - 1) * 2)
      << "\x22\x11";
  const TokenShard shard = open_shard(dir / "a.u16");
  EXPECT_EQ(shard.layout.count, count);
  int32_t id[2];
  EXPECT_EQ(read_tokens(shard.layout, count - 2, 2, id), 0x1122u);
  EXPECT_EQ(id[1], 0x1122);
}

TEST(TokenShard, NegativeIdsAreTheLargest) {
  const std::string ids = packed<int16_t>(std::vector<int>{5, -1, 7});
  int32_t out[3];
  EXPECT_EQ(read_tokens(parse_plain("x", bytes_of(ids), TokenType::i16), 0, 3, out), 0xffffffffu);
  const std::string wide = packed<int64_t>(std::vector<int64_t>{1, int64_t{1} << 32});
  EXPECT_EQ(read_tokens(parse_plain("x", bytes_of(wide), TokenType::i64), 0, 2, out), uint64_t{1} << 32);
}

TEST(TokenShard, ScanCountsDocumentsAndIds) {
  ScratchFolder dir;
  spill(dir / "a.bin", llm_c_bytes({9, 1, 2, 9, 3}));
  ShardReport report = scan_shard(open_shard(dir / "a.bin"), 9);
  EXPECT_EQ(report.documents, 2);
  EXPECT_EQ(report.longest, 3);
  EXPECT_EQ(report.shortest, 2);
  EXPECT_EQ(report.largest_id, 9);
  EXPECT_EQ(report.smallest_id, 1);
  EXPECT_EQ(report.eot_count, 2);
  spill(dir / "a.u16", packed<uint16_t>(std::vector<int>{1, 2, 9, 3, 9}));
  report = scan_shard(open_shard(dir / "a.u16"), 9);
  EXPECT_EQ(report.documents, 2);
  EXPECT_EQ(report.longest, 3);
  EXPECT_EQ(scan_shard(open_shard(dir / "a.u16"), -1).documents, -1);
}

TEST(ShardList, SortsByBytesAndLeavesOutCompanions) {
  ScratchFolder dir;
  for (const char* name : {"t_10.bin", "t_2.bin", "t_1.bin", "t_1.idx", "t B'\".bin", "t.ds", "t.ds.index"}) {
    spill(dir / name, "");
  }
  EXPECT_THAT(
      expand_shards({dir / "t*"}, "data.train"),
      ElementsAre(dir / "t B'\".bin", dir / "t.ds", dir / "t_1.bin", dir / "t_10.bin", dir / "t_2.bin"));
  EXPECT_THAT(expand_shards({dir / "t_2.bin", dir / "t_*.bin"}, "data.train"),
              ElementsAre(dir / "t_2.bin", dir / "t_1.bin", dir / "t_10.bin"));
  EXPECT_THAT(expand_shards({dir / "t B'\".bin"}, "data.train"), ElementsAre(dir / "t B'\".bin"));
  EXPECT_THAT(message_of<UserError>([&] { expand_shards({dir / "x*.bin"}, "data.val"); }),
              testing::AllOf(HasSubstr("data.val"), HasSubstr("x*.bin matches no file")));
  EXPECT_THAT(message_of<UserError>([&] { expand_shards({dir.path()}, "data.val"); }),
              HasSubstr("is a directory"));
  spill(dir / "a[1].bin", "");
  EXPECT_THAT(expand_shards({dir / "a[1].bin"}, "data.train"), ElementsAre(dir / "a[1].bin"));
}

}  // namespace
}  // namespace trireme
