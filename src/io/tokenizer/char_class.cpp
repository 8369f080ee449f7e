// Unfolds the generated ranges into a two-level table (about 70 KB, a fraction of a millisecond) and reads
// UTF-8.
#include "io/tokenizer/char_class.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace trireme {
namespace {

constexpr uint32_t kCodePoints = 0x110000;

constexpr uint32_t kRanges[] = {
#include "io/tokenizer/char_class_ranges.inc"
};

constexpr uint32_t start_of(uint32_t range) { return range >> 3; }
constexpr CharClass class_of(uint32_t range) { return static_cast<CharClass>(range & 7); }

bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

struct CodePoint {
  uint32_t value;
  int bytes;  // 0: invalid
};

// The character that begins with a byte >= 0x80 (Unicode 14, table 3-7).
CodePoint read_utf8(const unsigned char* at, int64_t left) {
  if (at[0] < 0xc2) return {0, 0};
  if (at[0] < 0xe0) {
    if (left < 2 || !continues(at[1])) return {0, 0};
    return {(at[0] & 0x1fu) << 6 | (at[1] & 0x3fu), 2};
  }
  if (at[0] < 0xf0) {
    if (left < 3 || !continues(at[1]) || !continues(at[2])) return {0, 0};
    const uint32_t value = (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return {value, value < 0x800 || (value >= 0xd800 && value < 0xe000) ? 0 : 3};
  }
  if (at[0] > 0xf4 || left < 4 || !continues(at[1]) || !continues(at[2]) || !continues(at[3])) return {0, 0};
  const uint32_t value = (at[0] & 7u) << 18 | (at[1] & 0x3fu) << 12 | (at[2] & 0x3fu) << 6 | (at[3] & 0x3fu);
  return {value, value < 0x10000 || value >= kCodePoints ? 0 : 4};
}

}  // namespace

CharClasses::CharClasses() {
  std::map<CharClass, uint16_t> uniform;  // the block that is this class throughout
  size_t range = 0;
  for (uint32_t block = 0; block < kCodePoints; block += kBlock) {
    while (range + 1 < std::size(kRanges) && start_of(kRanges[range + 1]) <= block) ++range;
    const bool whole = range + 1 == std::size(kRanges) || start_of(kRanges[range + 1]) >= block + kBlock;
    const auto fresh = static_cast<uint16_t>(blocks_.size() / kBlock);
    if (whole) {
      const auto [known, added] = uniform.emplace(class_of(kRanges[range]), fresh);
      block_of_.push_back(known->second);
      if (!added) continue;
    } else {
      block_of_.push_back(fresh);
    }
    size_t here = range;
    for (uint32_t code = block; code < block + kBlock; ++code) {
      while (here + 1 < std::size(kRanges) && start_of(kRanges[here + 1]) <= code) ++here;
      blocks_.push_back(class_of(kRanges[here]));
    }
  }
  std::copy_n(blocks_.begin() + block_of_[0] * kBlock, ascii_.size(), ascii_.begin());
}

Char CharClasses::multi_byte(const char* at, const char* end) const {
  const CodePoint code = read_utf8(reinterpret_cast<const unsigned char*>(at), end - at);
  if (code.bytes == 0) return {CharClass::Other, 1};
  return {blocks_[block_of_[code.value / kBlock] * kBlock + code.value % kBlock], code.bytes};
}

}  // namespace trireme
