// Event files, read back by a reader of their own format.
#include "obs/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>

#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
namespace fs = std::filesystem;

uint32_t crc_of(const std::string& text) { return crc32c(std::as_bytes(std::span(text))); }

// RFC 3720, appendix B.4, and the check value of CRC-32C for the digits.
TEST(Crc32c, PublishedVectors) {
  std::string up;
  for (int i = 0; i < 32; ++i) up.push_back(static_cast<char>(i));
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc_of(up), 0x46dd794eu);
  EXPECT_EQ(crc_of(std::string(up.rbegin(), up.rend())), 0x113fdb5cu);
  EXPECT_EQ(crc_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc_of(""), 0u);
}

struct Field {
  uint64_t number = 0;  // varints and fixed widths
  std::string_view bytes;
};

// A protobuf message as field -> values.
std::multimap<uint64_t, Field> fields_of(std::string_view message) {
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(message.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  std::multimap<uint64_t, Field> fields;
  while (at < message.size()) {
    const uint64_t key = varint();
    Field field;
    const size_t width = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
    if ((key & 7) == 0) {
      field.number = varint();
    } else if (width > 0) {
      std::memcpy(&field.number, message.substr(at, width).data(), width);
      at += width;
    } else {
      const uint64_t length = varint();
      field.bytes = message.substr(at, length);
      at += length;
    }
    fields.emplace(key >> 3, field);
  }
  return fields;
}

uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  for (size_t at = 0; at < file.size();) {
    uint64_t length = 0;
    uint32_t crcs[2];
    std::memcpy(&length, file.data() + at, 8);
    std::memcpy(&crcs[0], file.data() + at + 8, 4);
    std::memcpy(&crcs[1], file.data() + at + 12 + length, 4);
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(crcs[0], masked(crc_of(file.substr(at, 8))));
    EXPECT_EQ(crcs[1], masked(crc_of(records.back())));
    at += length + 16;
  }
  return records;
}

// step -> value of every scalar "loss" in the folder, in order of the files' names.
std::multimap<int64_t, float> losses(const std::string& folder) {
  std::multimap<int64_t, float> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    for (const std::string& record : records_of(slurp(entry.path()))) {
      const auto event = fields_of(record);
      const auto step = event.count(2) > 0 ? static_cast<int64_t>(event.find(2)->second.number) : 0;
      if (event.count(5) == 0) continue;
      const auto summary = fields_of(event.find(5)->second.bytes);
      for (const auto& [number, field] : summary) {
        const auto value = fields_of(field.bytes);
        if (value.find(1)->second.bytes != "loss") continue;
        found.emplace(step, std::bit_cast<float>(static_cast<uint32_t>(value.find(2)->second.number)));
      }
    }
  }
  return found;
}

TEST(Events, AreReadBack) {
  const ScratchFolder folder;
  EventWriter writer(folder.path(), 0);
  writer.write(1, std::vector<Scalar>{{"loss", 5.5f}, {"lr", 1e-3f}});
  writer.write(300, std::vector<Scalar>{{"loss", 4.5f}});
  EXPECT_THAT(losses(folder.path()), testing::ElementsAre(testing::Pair(1, 5.5f), testing::Pair(300, 4.5f)));
  const auto records = records_of(slurp(writer.path()));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(fields_of(records[0]).find(3)->second.bytes, "brain.Event:2");
  const auto seconds = std::bit_cast<double>(fields_of(records[0]).find(1)->second.number);
  EXPECT_GT(seconds, 1.6e9);
  EXPECT_TRUE(fs::path(writer.path()).filename().string().starts_with("events.out.tfevents."));
}

TEST(Events, ResumeLeavesEachStepOnce) {
  const ScratchFolder folder;
  std::string first;
  {
    EventWriter writer(folder.path(), 0);
    for (int64_t step = 1; step <= 200; ++step) writer.write(step, std::vector<Scalar>{{"loss", 1}});
    first = writer.path();
  }
  const std::string torn = slurp(first);
  fs::rename(first, folder / "events.out.tfevents.0000000001.host.1");
  spill(folder / "events.out.tfevents.0000000001.host.1", torn.substr(0, torn.size() - 3));
  EventWriter writer(folder.path(), 150);
  for (int64_t step = 151; step <= 160; ++step) writer.write(step, std::vector<Scalar>{{"loss", 2}});
  const auto found = losses(folder.path());
  EXPECT_EQ(found.size(), 160u);
  for (int64_t step = 1; step <= 160; ++step) {
    ASSERT_EQ(found.count(step), 1u) << step;
    EXPECT_EQ(found.find(step)->second, step <= 150 ? 1 : 2);
  }
  // SessionLog.START at the first step that is done again.
  const std::vector<std::string> records = records_of(slurp(writer.path()));
  const auto start = fields_of(records.at(1));
  EXPECT_EQ(start.find(2)->second.number, 151u);
  EXPECT_EQ(fields_of(start.find(7)->second.bytes).find(1)->second.number, 1u);
}

TEST(Events, OtherFilesInTheFolderAreLeftAlone) {
  const ScratchFolder folder;
  spill(folder / "metrics.jsonl", "x");
  EventWriter writer(folder.path(), 5);
  EXPECT_EQ(slurp(folder / "metrics.jsonl"), "x");
}

}  // namespace
}  // namespace trireme
