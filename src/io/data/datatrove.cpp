// datatrove's (and nanotron's) shard: NAME.ds holds the ids alone, NAME.ds.index the documents' ends as u64,
// NAME.ds.metadata three lines of text, the first of which is "tokenizer|bytes per id".
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "io/data/shard_layout.h"

namespace trireme {
namespace {

// The width that the metadata state, or 0 when they state none.
int64_t stated_width(Bytes metadata) {
  const std::string_view text(reinterpret_cast<const char*>(metadata.data()), metadata.size());
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t bar = line.rfind('|');
  if (bar == std::string_view::npos) return 0;
  int64_t width = 0;
  const auto [end, error] = std::from_chars(line.data() + bar + 1, line.data() + line.size(), width);
  return error == std::errc{} ? width : 0;
}

// Checks that the ends rise; returns the last.
uint64_t last_end(const std::string& name, Bytes index) {
  uint64_t before = 0;
  for (size_t d = 0; d < index.size() / 8; ++d) {
    const auto end = load_le<uint64_t>(index.data() + 8 * d);
    if (end < before)
      fail_user("{}.index: document {} ends at token {}, before its start {}", name, d, end, before);
    before = end;
  }
  return before;
}

}  // namespace

ShardLayout parse_datatrove(const std::string& name, Bytes ds, Bytes index, Bytes metadata) {
  if (index.size() % 8 != 0) {
    fail_user("{}.index is truncated: its {} bytes are no multiple of 8", name, index.size());
  }
  const uint64_t last = last_end(name, index);
  int64_t width = stated_width(metadata);
  if (width == 0 && last > 0 && last <= ds.size() / 2) width = static_cast<int64_t>(ds.size() / last);
  if (width == 0 && index.empty() && ds.empty()) width = 2;
  if (width != 2 && width != 4) {
    fail_user(
        "{}: ids of {} bytes cannot be read, only 2 or 4 (by {}.metadata, else by its {} bytes over the {} "
        "tokens "
        "of {}.index)",
        name, width, name, ds.size(), last, name);
  }
  if (last > ds.size() || last * static_cast<uint64_t>(width) != ds.size()) {
    fail_user("{} does not match its index: {} tokens of {} bytes are expected, the file has {} bytes", name,
              last, width, ds.size());
  }
  ShardLayout layout = parse_plain(name, ds, width == 2 ? TokenType::u16 : TokenType::u32);
  layout.format = ShardFormat::datatrove;
  layout.has_documents = true;
  layout.documents = static_cast<int64_t>(index.size() / 8);
  layout.document_ends = index.data();
  return layout;
}

}  // namespace trireme
