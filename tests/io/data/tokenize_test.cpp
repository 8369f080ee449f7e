// Text to shards: every record accounted for, the same bytes on any number of threads, and the shard is read
// back by the reader (whose own tests build their files by hand).
#include "io/data/tokenize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/data/shard_files.h"
#include "io/data/shard_writer.h"
#include "io/data/token_shard.h"

namespace trireme {
namespace {

using namespace shard_files;
using testing::ElementsAre;
using testing::HasSubstr;

EncodeFunction byte_encoder() {
  return [](std::string_view text, std::vector<uint32_t>& ids) {
    for (const char c : text) ids.push_back(static_cast<uint8_t>(c));
  };
}

TokenizeReport tokenize(const TokenizeOptions& options) { return tokenize_files(options, byte_encoder, {}); }

std::vector<std::string> documents_of(const std::string& path) {
  const TokenShard shard = open_shard(path);
  std::vector<std::string> documents;
  int64_t start = 0;
  for (int64_t d = 0; d < shard.layout.documents; ++d) {
    std::string text;
    for (; start < document_end(shard.layout, d); ++start) {
      const int64_t id = token_at(shard.layout, start);
      text += id == 256 ? '$' : static_cast<char>(id);
    }
    documents.push_back(text);
  }
  return documents;
}

class TokenizeTest : public testing::Test {
 protected:
  ScratchFolder dir;
  TokenizeOptions options;
  TokenizeTest() {
    options.out = dir / "sub/out";
    options.vocab = 257;
    options.eot = 256;
    options.threads = 2;
  }
  std::string file(const std::string& name, const std::string& text) {
    spill(dir / name, text);
    return dir / name;
  }
};

TEST_F(TokenizeTest, FilesBecomeDocuments) {
  options.files = {file("b", "two\n"), file("a", "\xef\xbb\xbfone"), file("c", ""), file("d", "  ")};
  const TokenizeReport report = tokenize(options);
  EXPECT_THAT(documents_of(dir / "sub/out.bin"), ElementsAre("two\n$", "one$", "  $"));
  EXPECT_EQ(report.records, 4);
  EXPECT_EQ(report.documents, 3);
  EXPECT_EQ(report.empty, 1);
  EXPECT_EQ(report.tokens, 12);
  EXPECT_EQ(report.text_bytes, 9);
  EXPECT_EQ(report.bytes, 9);
  EXPECT_FALSE(std::filesystem::exists(dir / "sub/out.bin.partial"));
}

TEST_F(TokenizeTest, JsonLinesAreAccountedFor) {
  options.files = {file(
      "a.jsonl",
      std::string(
          "\xef\xbb\xbf{\"text\": \"first\"}\r\n\n{\"text\": \"\"}\n{\"text\": \"lone \\ud800\"}\n"
          "{\"text\": \"bad \xf4\"}\n{\"text\": \"nul \\u0000\"}\n{\"text\": \"last\"}\n{\"text\": \"cut"))};
  const TokenizeReport report = tokenize(options);
  EXPECT_THAT(documents_of(dir / "sub/out.bin"), ElementsAre("first$", std::string("nul \0$", 6), "last$"));
  EXPECT_EQ(report.records, 7);
  EXPECT_EQ(report.documents + report.empty + report.rejected, report.records);
  EXPECT_EQ(report.empty, 1);
  ASSERT_EQ(report.rejects.size(), 3u);
  EXPECT_EQ(report.rejects[0].line, 4);
  EXPECT_EQ(report.rejects[1].line, 5);
  EXPECT_EQ(report.rejects[2].line, 8);
}

TEST_F(TokenizeTest, PlainTextKeepsEveryByte) {
  std::string text;
  for (int i = 0; i < 256 * 3; ++i) text += static_cast<char>(i * 7);
  options.files = {file("a", text)};
  options.eot.reset();
  tokenize(options);
  EXPECT_EQ(documents_of(dir / "sub/out.bin")[0], text);
}

TEST_F(TokenizeTest, LinesLoseTheirCarriageReturn) {
  options.files = {file("a", "one\r\n\r\ntwo")};
  options.rules.separator = "\n";
  options.strip_carriage_return = true;
  EXPECT_EQ(tokenize(options).empty, 1);
  EXPECT_THAT(documents_of(dir / "sub/out.bin"), ElementsAre("one$", "two$"));
}

TEST_F(TokenizeTest, ThreadsAndChunksDoNotChangeTheShards) {
  std::string lines;
  for (int i = 0; i < 5000; ++i)
    lines += fmt::format("{{\"text\": \"{}\"}}\n", std::string(static_cast<size_t>(i % 97), 'a'));
  options.files = {file("a.jsonl", lines), file("b", "plain"), file("c.jsonl", lines)};
  options.val_fraction = 0.1;
  std::vector<std::string> seen;
  for (const int threads : {1, 2, 5}) {
    for (const int64_t chunk : {100, 1 << 20}) {
      options.threads = threads;
      options.chunk_bytes = chunk;
      options.val_out = dir / "val";
      const TokenizeReport report = tokenize(options);
      EXPECT_NEAR(static_cast<double>(report.val_documents), 990, 6 * 30);  // sqrt(9897 * 0.1 * 0.9) = 30
      std::string all;
      for (const char* name : {"sub/out.bin", "sub/out.idx", "val.bin", "val.idx"}) all += slurp(dir / name);
      seen.push_back(all);
    }
  }
  for (const std::string& all : seen) EXPECT_TRUE(all == seen[0]);
  EXPECT_EQ(documents_of(dir / "val.bin").size() + documents_of(dir / "sub/out.bin").size(), 9897u);
}

TEST_F(TokenizeTest, DocumentsBeyond65535Tokens) {
  for (const size_t length : {65535, 65537, 70000})
    options.files.push_back(file(std::to_string(length), std::string(length, 'x')));
  options.eot.reset();
  EXPECT_EQ(tokenize(options).tokens, 65535 + 65537 + 70000);
  EXPECT_EQ(documents_of(dir / "sub/out.bin")[1].size(), 65537u);
}

TEST_F(TokenizeTest, ManyEmptyDocuments) {
  options.files = {file("a", std::string(100000, '\n') + "end")};
  options.rules.separator = "\n";
  const TokenizeReport report = tokenize(options);
  EXPECT_EQ(report.empty, 100000);
  EXPECT_EQ(report.documents, 1);
}

TEST_F(TokenizeTest, NothingToWriteIsRefusedAndLeavesTheOldShard) {
  options.files = {file("a", "good")};
  tokenize(options);
  const std::string before = slurp(dir / "sub/out.bin");
  options.files = {file("b.jsonl", "{}\n")};
  EXPECT_THAT(message_of<UserError>([&] { tokenize(options); }),
              HasSubstr("b.jsonl:1: it has no key 'text'"));
  options.files = {file("a", "good")};
  options.val_out = dir / "val";
  options.val_fraction = 1e-9;
  EXPECT_THAT(message_of<UserError>([&] { tokenize(options); }), HasSubstr("--val-fraction"));
  EXPECT_EQ(slurp(dir / "sub/out.bin"), before);
  for (const char* name : {"sub/out.bin.partial", "sub/out.idx.partial", "val.bin", "val.bin.partial"}) {
    EXPECT_FALSE(std::filesystem::exists(dir / name)) << name;
  }
}

TEST_F(TokenizeTest, FailuresOfAnyThreadEndAll) {
  for (int i = 0; i < 200; ++i) options.files.push_back(file(std::to_string(i), std::string(1000, 'x')));
  auto failing = [] {
    return EncodeFunction([n = 0](std::string_view, std::vector<uint32_t>& ids) mutable {
      if (++n == 20) fail_user("encoder");
      ids.push_back(1);
    });
  };
  EXPECT_EQ(message_of<UserError>([&] { tokenize_files(options, failing, {}); }), "encoder");
  EXPECT_EQ(message_of<UserError>([&] {
              tokenize_files(options, byte_encoder, [](const TokenizeReport&) { fail_user("writer"); });
            }),
            "writer");
  options.files.push_back(dir / "absent");
  EXPECT_THAT(message_of<EnvError>([&] { tokenize(options); }), HasSubstr("absent"));
}

TEST_F(TokenizeTest, WideVocabulariesGet32Bits) {
  for (const int64_t vocab : {65536, 65537}) {
    ShardWriter writer(dir / "w", vocab);
    writer.add_document(std::vector<uint32_t>{1, static_cast<uint32_t>(vocab - 1)});
    writer.add_document({});
    writer.finish();
    const TokenShard shard = open_shard(dir / "w.idx");
    EXPECT_EQ(shard.layout.type, vocab == 65536 ? TokenType::u16 : TokenType::i32);
    EXPECT_EQ(token_at(shard.layout, 1), vocab - 1);
    EXPECT_EQ(shard.layout.documents, 2);
  }
}

// Byte for byte what the format's description gives.
TEST_F(TokenizeTest, TheIndexIsAsDescribed) {
  ShardWriter writer(dir / "w", 100);
  writer.add_document(std::vector<uint32_t>{1, 2, 3});
  writer.add_document(std::vector<uint32_t>{4});
  writer.finish();
  EXPECT_EQ(slurp(dir / "w.idx"), megatron_index({3, 1}, 8, 2));
  EXPECT_EQ(slurp(dir / "w.bin"), packed<uint16_t>(std::vector<int>{1, 2, 3, 4}));
}

TEST_F(TokenizeTest, AFullDiskIsSaid) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  std::filesystem::create_symlink("/dev/full", dir / "x");
  EXPECT_NE(message_of<EnvError>([&] { ShardWriter writer(dir / "x/y", 100); }), "");
}

}  // namespace
}  // namespace trireme
