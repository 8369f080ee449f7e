// Fuzz target of the shard parsers: the input is cut into a shard's files, and whatever is accepted is read
// whole. A finding is a crash, an over-read under ASan, or a layout that contradicts itself.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "io/data/shard_layout.h"

namespace {

using namespace trireme;

void read_whole(const ShardLayout& layout) {
  std::vector<int32_t> ids(static_cast<size_t>(layout.count));
  read_tokens(layout, 0, layout.count, ids.data());
  int64_t start = 0;
  for (int64_t d = 0; d < layout.documents; ++d) {
    const int64_t end = document_end(layout, d);
    CHECK(end >= start && end <= layout.count, "document {} is [{}, {}) of {}", d, start, end, layout.count);
    if (end > start)
      CHECK(document_at(layout, start) == d && document_at(layout, end - 1) == d, "document {}", d);
    start = end;
  }
  if (layout.has_documents && layout.format == ShardFormat::datatrove)
    CHECK(start == layout.count, "{}", start);
}

ShardLayout parse(uint8_t kind, Bytes a, Bytes b, Bytes c) {
  switch (kind % 4) {
    case 0:
      return parse_llm_c("fuzz.bin", a);
    case 1:
      return parse_megatron("fuzz.bin", a, "fuzz.idx", b);
    case 2:
      return parse_datatrove("fuzz.ds", a, b, c);
    default:
      return parse_plain("fuzz", a, static_cast<TokenType>(kind / 4 % 7));
  }
}

}  // namespace

// Input: u8 format, u16 bytes of the first file, u8 bytes of the third, then the first, third and second
// file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  Bytes rest = std::as_bytes(std::span(data + 4, size - 4));
  const auto take = [&rest](size_t wanted) {
    const Bytes part = rest.first(std::min(wanted, rest.size()));
    rest = rest.subspan(part.size());
    return part;
  };
  // Copies of their own, so that reading past one's end is seen.
  const auto copied = [](Bytes part) { return std::vector<std::byte>(part.begin(), part.end()); };
  const auto first = copied(take(data[1] + 256u * data[2]));
  const auto third = copied(take(data[3]));
  const auto second = copied(rest);
  try {
    read_whole(parse(data[0], first, second, third));
  } catch (const trireme::UserError&) {
  }
  return 0;
}
