// Megatron's indexed data set: PREFIX.bin holds the ids alone, PREFIX.idx their type, the sequences' lengths
// and offsets, and the sequences at which documents begin. Every entry is checked when the shard is opened:
// the sequences must lie in the .bin one after the other without gaps, since windows are cut from it as a
// stream.
#include <cstring>

#include "base/error.h"
#include "io/data/shard_layout.h"

namespace trireme {
namespace {

constexpr char kMagic[] = "MMIDIDX\0";  // nine bytes with the terminator
constexpr int64_t kMagicBytes = 9;
constexpr int64_t kHeaderBytes = 34;

TokenType type_of_code(const std::string& name, uint8_t code) {
  switch (code) {
    case 1:
      return TokenType::u8;
    case 2:
      return TokenType::i8;
    case 3:
      return TokenType::i16;
    case 4:
      return TokenType::i32;
    case 5:
      return TokenType::i64;
    case 8:
      return TokenType::u16;
    case 6:
    case 7:
      fail_user("{}: dtype code {} means floating-point numbers, which are no token ids", name, code);
    default:
      fail_user(
          "{}: dtype code {} is unknown; 1 (u8), 2 (i8), 3 (i16), 4 (i32), 5 (i64) and 8 (u16) are read",
          name, code);
  }
}

struct Sections {
  int64_t sequences = 0, boundaries = 0;
  const std::byte* lengths = nullptr;  // i32[sequences]
  const std::byte* offsets = nullptr;  // i64[sequences]
  const std::byte* starts = nullptr;   // i64[boundaries]
  const std::byte* modes = nullptr;    // i8[sequences] or null
};

Sections cut(const std::string& name, Bytes index) {
  const auto size = static_cast<uint64_t>(index.size());
  const auto sequences = load_le<uint64_t>(index.data() + 18);
  const auto boundaries = load_le<uint64_t>(index.data() + 26);
  if (sequences > size / 12 || boundaries > size / 8) {
    fail_user(
        "{} is truncated: its header names {} sequences and {} document boundaries, which {} bytes cannot "
        "hold",
        name, sequences, boundaries, size);
  }
  const uint64_t expected = kHeaderBytes + sequences * 12 + boundaries * 8;
  if (size != expected && size != expected + sequences) {
    fail_user("{} is {}: {} sequences and {} document boundaries make {} bytes, the file has {}", name,
              size < expected ? "truncated" : "too long", sequences, boundaries, expected, size);
  }
  Sections s;
  s.sequences = static_cast<int64_t>(sequences);
  s.boundaries = static_cast<int64_t>(boundaries);
  s.lengths = index.data() + kHeaderBytes;
  s.offsets = s.lengths + 4 * s.sequences;
  s.starts = s.offsets + 8 * s.sequences;
  if (size != expected) s.modes = s.starts + 8 * s.boundaries;
  return s;
}

// Returns the bytes that all sequences take.
int64_t check_sequences(const std::string& name, const Sections& s, int64_t id_bytes) {
  int64_t end = 0;
  for (int64_t i = 0; i < s.sequences; ++i) {
    const auto length = load_le<int32_t>(s.lengths + 4 * i);
    const auto offset = load_le<int64_t>(s.offsets + 8 * i);
    if (length < 0) fail_user("{}: sequence {} has the negative length {}", name, i, length);
    if (offset != end) {
      fail_user(
          "{}: sequence {} lies at byte {} of the .bin file, expected {} (sequences must follow each other)",
          name, i, offset, end);
    }
    end += length * id_bytes;  // one step adds less than 2^34, so the next line sees it before it overflows
    if (end > (int64_t{1} << 60)) fail_user("{}: sequence {} ends at byte {}, beyond any file", name, i, end);
    if (s.modes && load_le<int8_t>(s.modes + i) != 0) {
      fail_user("{}: sequence {} has mode {}: multimodal data sets are not read", name, i,
                load_le<int8_t>(s.modes + i));
    }
  }
  return end;
}

void check_documents(const std::string& name, const Sections& s) {
  if (s.boundaries < 1) fail_user("{}: the list of document boundaries is empty; it must begin with 0", name);
  int64_t before = 0;
  for (int64_t d = 0; d < s.boundaries; ++d) {
    const auto start = load_le<int64_t>(s.starts + 8 * d);
    if (start < before || start > s.sequences || (d == 0 && start != 0)) {
      fail_user("{}: document {} begins at sequence {}, expected {} to {}", name, d, start, before,
                d == 0 ? 0 : s.sequences);
    }
    before = start;
  }
  if (before != s.sequences) {
    fail_user("{}: the last document ends at sequence {} of {}", name, before, s.sequences);
  }
}

}  // namespace

bool looks_like_megatron_index(Bytes index) {
  return index.size() >= kMagicBytes && std::memcmp(index.data(), kMagic, kMagicBytes) == 0;
}

ShardLayout parse_megatron(const std::string& name, Bytes bin, const std::string& index_name, Bytes index) {
  if (!looks_like_megatron_index(index)) {
    fail_user("{} is no Megatron index: it does not begin with MMIDIDX", index_name);
  }
  if (static_cast<int64_t>(index.size()) < kHeaderBytes) {
    fail_user("{} is truncated: the header has {} bytes, the file {}", index_name, kHeaderBytes,
              index.size());
  }
  const auto version = load_le<uint64_t>(index.data() + 9);
  if (version != 1) fail_user("{}: version {} is unknown; version 1 is read", index_name, version);
  ShardLayout layout;
  layout.format = ShardFormat::megatron;
  layout.type = type_of_code(index_name, load_le<uint8_t>(index.data() + 17));
  const Sections s = cut(index_name, index);
  const int64_t expected = check_sequences(index_name, s, size_of(layout.type));
  check_documents(index_name, s);
  const auto actual = static_cast<int64_t>(bin.size());
  if (actual != expected) {
    fail_user("{} is {}: {} describes {} bytes, the file has {}", name,
              actual < expected ? "truncated" : "too long", index_name, expected, actual);
  }
  layout.tokens = bin.data();
  layout.count = expected / size_of(layout.type);
  layout.has_documents = true;
  layout.documents = s.boundaries - 1;
  layout.document_starts = s.starts;
  layout.sequence_offsets = s.offsets;
  layout.sequences = s.sequences;
  return layout;
}

}  // namespace trireme
