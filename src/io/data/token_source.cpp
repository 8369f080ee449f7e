// Cuts a stretch of a source's stream into its shards' parts, to read ids and to find documents.
#include "io/data/token_source.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {
namespace {

struct Part {
  size_t shard;
  int64_t offset;  // first token, in the shard
  int64_t count;
  int64_t row;  // index of that token in the stretch
};

// Calls f for the non-empty parts of [first, first + count), in order.
template <class F>
void for_each_part(const TokenSource& source, int64_t first, int64_t count, F f) {
  CHECK(first >= 0 && count >= 0 && first <= source.tokens() - count, "tokens {} + {} of {}", first, count,
        source.tokens());
  auto shard = static_cast<size_t>(std::upper_bound(source.starts.begin(), source.starts.end(), first) -
                                   source.starts.begin() - 1);
  for (int64_t row = 0; row < count; ++shard) {
    const int64_t offset = first + row - source.starts[shard];
    const int64_t here = std::min(count - row, source.starts[shard + 1] - source.starts[shard] - offset);
    if (here > 0) f(Part{shard, offset, here, row});
    row += here;
  }
}

[[noreturn]] void refuse_id(const TokenShard& shard, const Part& part, int64_t vocab,
                            const std::string& key) {
  for (int64_t i = part.offset; i < part.offset + part.count; ++i) {
    const int64_t id = token_at(shard.layout, i);
    if (id >= 0 && id < vocab) continue;
    fail_user(
        "{}: {} holds id {} at token {}, outside the model's vocabulary (model.vocab = {}); the shard was "
        "made with "
        "another tokenizer, or model.vocab is too small",
        key, shard.path, id, i, vocab);
  }
  CHECK(false, "no id of {} is outside {}", shard.path, vocab);
}

void starts_by_index(const ShardLayout& layout, const Part& part, std::vector<int32_t>& starts) {
  const int64_t stop = part.offset + part.count;
  for (int64_t d = document_at(layout, part.offset); d < layout.documents; ++d) {
    const int64_t end = document_end(layout, d);
    if (end >= stop) break;
    starts.push_back(static_cast<int32_t>(part.row + end - part.offset));
  }
}

void starts_by_id(const ShardLayout& layout, const Part& part, int32_t id, std::span<const int32_t> tokens,
                  std::vector<int32_t>& starts) {
  const int64_t shift = begins_with_delimiter(layout.format) ? 0 : 1;
  for (int64_t i = 0; i + shift < part.count; ++i) {
    const int64_t row = part.row + i;
    if (tokens[static_cast<size_t>(row)] == id && row + shift > 0) {
      starts.push_back(static_cast<int32_t>(row + shift));
    }
  }
}

}  // namespace

TokenSource open_source(const std::vector<std::string>& patterns, const std::string& key) {
  TokenSource source;
  source.starts.push_back(0);
  for (const std::string& path : expand_shards(patterns, key)) {
    source.shards.push_back(open_shard(path));
    source.starts.push_back(source.starts.back() + source.shards.back().layout.count);
  }
  return source;
}

void read_stream(const TokenSource& source, int64_t first, std::span<int32_t> out, int64_t vocab,
                 const std::string& key) {
  for_each_part(source, first, static_cast<int64_t>(out.size()), [&](const Part& part) {
    const TokenShard& shard = source.shards[part.shard];
    const uint64_t largest = read_tokens(shard.layout, part.offset, part.count, out.data() + part.row);
    if (largest >= static_cast<uint64_t>(vocab)) refuse_id(shard, part, vocab, key);
  });
}

std::optional<int32_t> delimiter(const ShardLayout& layout, std::optional<uint32_t> eot, int64_t vocab) {
  if (layout.has_documents) return std::nullopt;
  const int64_t id = eot ? int64_t{*eot} : prescribed_delimiter(layout.format);
  if (id < 0 || id >= vocab) return std::nullopt;
  return static_cast<int32_t>(id);
}

void find_document_starts(const TokenSource& source, int64_t first, std::span<const int32_t> tokens,
                          std::optional<uint32_t> eot, int64_t vocab, std::vector<int32_t>& starts) {
  starts.clear();
  for_each_part(source, first, static_cast<int64_t>(tokens.size()), [&](const Part& part) {
    const ShardLayout& layout = source.shards[part.shard].layout;
    if (part.row > 0) starts.push_back(static_cast<int32_t>(part.row));
    if (layout.has_documents) {
      starts_by_index(layout, part, starts);
    } else if (const auto id = delimiter(layout, eot, vocab)) {
      starts_by_id(layout, part, *id, tokens, starts);
    }
  });
}

}  // namespace trireme
