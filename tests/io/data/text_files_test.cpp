// Text files of every packing become the same bytes; records are found wherever blocks and chunks end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "io/data/json_text.h"
#include "io/data/shard_files.h"
#include "io/data/text_chunks.h"
#include "io/files/text_stream.h"

namespace trireme {
namespace {

using namespace shard_files;
using testing::ElementsAre;
using testing::HasSubstr;

std::string gzipped(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd_packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string read_all(const std::string& path) {
  TextStream stream(path);
  std::string all, block(1000, '\0');
  for (size_t n; (n = stream.read(block.data(), block.size())) > 0;) all.append(block, 0, n);
  return all;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += fmt::format("line {} of it\n", i * 7919 % 10007);
  return text;
}

TEST(TextStream, UnpacksGzipAndZstd) {
  ScratchFolder dir;
  const std::string text = long_text();
  spill(dir / "a.txt", text);
  spill(dir / "a.gz", gzipped(text));
  spill(dir / "a.zst", zstd_packed(text));
  spill(dir / "two.gz", gzipped("one ") + gzipped("two"));
  spill(dir / "two.zst", zstd_packed("one ") + zstd_packed("") + zstd_packed("two"));
  spill(dir / "none", "");
  spill(dir / "none.gz", gzipped(""));
  for (const char* name : {"a.txt", "a.gz", "a.zst"}) EXPECT_TRUE(read_all(dir / name) == text) << name;
  EXPECT_EQ(read_all(dir / "two.gz"), "one two");
  EXPECT_EQ(read_all(dir / "two.zst"), "one two");
  EXPECT_EQ(read_all(dir / "none"), "");
  EXPECT_EQ(read_all(dir / "none.gz"), "");
}

TEST(TextStream, RefusesDamagedFiles) {
  ScratchFolder dir;
  const std::string gz = gzipped(long_text()), zst = zstd_packed(long_text());
  auto refusal = [&](const std::string& bytes) {
    spill(dir / "x", bytes);
    return message_of<UserError>([&] { read_all(dir / "x"); });
  };
  EXPECT_THAT(refusal(gz.substr(0, gz.size() - 9)), HasSubstr("ends in the middle"));
  EXPECT_THAT(refusal(gz.substr(0, 12)), HasSubstr("ends in the middle"));
  EXPECT_THAT(refusal(zst.substr(0, zst.size() - 1)), HasSubstr("ends in the middle"));
  EXPECT_THAT(refusal(gz + "tail"), HasSubstr("gzip data are damaged"));
  std::string flipped = gz;
  flipped[flipped.size() / 2] ^= 4;
  EXPECT_THAT(refusal(flipped), HasSubstr("damaged"));
  EXPECT_THAT(message_of<EnvError>([&] { read_all(dir / "absent"); }), HasSubstr("No such file"));
}

std::vector<std::string> records_of(const std::vector<std::string>& files, const RecordRules& rules,
                                    int64_t chunk_bytes) {
  ChunkReader reader(files, rules, chunk_bytes);
  std::vector<std::string> records;
  while (const auto chunk = reader.next()) {
    EXPECT_EQ(chunk->first_record, static_cast<int64_t>(records.size()));
    for_each_record(*chunk, [&](std::string_view record, int64_t) { records.emplace_back(record); });
  }
  return records;
}

TEST(ChunkReader, AFileIsADocument) {
  ScratchFolder dir;
  spill(dir / "a", "\xef\xbb\xbfone\ntwo\n");
  spill(dir / "b", "");
  spill(dir / "c", "\xef\xbb");  // no whole mark
  EXPECT_THAT(records_of({dir / "a", dir / "b", dir / "c"}, {}, 1),
              ElementsAre("one\ntwo\n", "", "\xef\xbb"));
}

TEST(ChunkReader, SeparatorsCutWhateverTheChunk) {
  ScratchFolder dir;
  spill(dir / "a", "<>one<><>two<");
  spill(dir / "b", "three<>");
  spill(dir / "c", "");
  for (int64_t chunk = 1; chunk < 20; ++chunk) {
    EXPECT_THAT(records_of({dir / "a", dir / "b", dir / "c"}, {.separator = "<>"}, chunk),
                ElementsAre("", "one", "", "two<", "three"));
  }
}

// Lines of many lengths, so that blocks end everywhere in them, a separator's middle among the places.
TEST(ChunkReader, LongFilesLoseNothing) {
  ScratchFolder dir;
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    lines.push_back(std::string(static_cast<size_t>(i * 7919 % 1013), static_cast<char>('a' + i % 26)));
    text += (i ? "\r\n" : "") + lines.back();
  }
  spill(dir / "a", text);
  for (const int64_t chunk : {1, 100000, 262144, 5000000}) {
    EXPECT_TRUE(records_of({dir / "a"}, {.separator = "\r\n"}, chunk) == lines) << chunk;
  }
}

TEST(ChunkReader, NumbersLines) {
  ScratchFolder dir;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += fmt::format("{}\n", i + 1);
  spill(dir / "a.jsonl", text);
  spill(dir / "b.jsonl.gz", gzipped(text));
  ChunkReader reader({dir / "a.jsonl", dir / "b.jsonl.gz"}, {}, 1000);
  int64_t chunks = 0, seen = 0;
  while (const auto chunk = reader.next()) {
    EXPECT_EQ(chunk->number, chunks++);
    EXPECT_EQ(chunk->kind, RecordKind::json_line);
    for_each_record(*chunk, [&](std::string_view record, int64_t i) {
      EXPECT_EQ(record, std::to_string(chunk->first_line + i));
      ++seen;
    });
  }
  EXPECT_EQ(seen, 100000);
  EXPECT_GT(chunks, 3);
  EXPECT_EQ(reader.bytes_read(), static_cast<int64_t>(2 * text.size()));
}

std::string reason_for(const std::string& line, std::string* text = nullptr) {
  std::string found;
  const std::string reason = extract_text(line, "text", found);
  if (text) *text = found;
  return reason;
}

TEST(JsonText, FindsTheTopLevelString) {
  std::string text;
  EXPECT_EQ(
      reason_for(
          R"({"meta": {"text": "no"}, "a": ["text", {"text": 1}], "text": "caf\u00e9 \ud83d\ude00\u0000!"})",
          &text),
      "");
  EXPECT_EQ(text, std::string("caf\xc3\xa9 \xf0\x9f\x98\x80\0!", 12));
  EXPECT_EQ(reason_for(R"({"text": "one", "text": "two"})", &text), "");
  EXPECT_EQ(text, "two");
  EXPECT_EQ(reason_for("{\"text\": \"\"}\r", &text), "");
  EXPECT_EQ(text, "");
}

TEST(JsonText, SaysWhatIsWrong) {
  EXPECT_THAT(reason_for(R"({"txt": "a"})"), HasSubstr("no key 'text'"));
  EXPECT_THAT(reason_for(R"({"text": 5})"), HasSubstr("not a string"));
  EXPECT_THAT(reason_for(R"({"text": ["a"]})"), HasSubstr("not a string"));
  EXPECT_THAT(reason_for(R"({"text": {"text": "a"}})"), HasSubstr("not a string"));
  EXPECT_THAT(reason_for(R"(["text"])"), HasSubstr("not a JSON object"));
  EXPECT_THAT(reason_for(R"("text")"), HasSubstr("not a JSON object"));
  EXPECT_THAT(reason_for(R"({"text": "cut o)"), HasSubstr("byte"));
  EXPECT_THAT(reason_for(R"({"text": "lone \ud800"})"), HasSubstr("byte"));
  EXPECT_THAT(reason_for("{\"text\": \"bad \xf4 byte\"}"), HasSubstr("byte"));
  EXPECT_LT(reason_for("{\"text\": \"" + std::string(1 << 20, 'x')).size(), 200u);
  EXPECT_NE(reason_for(std::string(1 << 20, '[')), "");
}

}  // namespace
}  // namespace trireme
