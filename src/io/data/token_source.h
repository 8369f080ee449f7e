// The shards of one source as a single stream of tokens, and where documents begin in a stretch of it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/data/token_shard.h"

namespace trireme {

struct TokenSource {
  std::vector<TokenShard> shards;
  std::vector<int64_t> starts;  // first token of each shard in the stream, and the total
  int64_t tokens() const { return starts.back(); }
};

// `key` is named in errors.
TokenSource open_source(const std::vector<std::string>& patterns, const std::string& key);

// Copies tokens [first, first + out.size()). UserError on an id outside [0, vocab): names shard, offset and
// id.
void read_stream(const TokenSource& source, int64_t first, std::span<int32_t> out, int64_t vocab,
                 const std::string& key);

// The end-of-text id that delimits documents in this shard: `eot`, or the one that llm.c's formats prescribe.
// nullopt when the format keeps an index (none is needed) or when no id below `vocab` is known.
std::optional<int32_t> delimiter(const ShardLayout& layout, std::optional<uint32_t> eot, int64_t vocab);

// Every b in [1, tokens.size()) such that token first + b begins a document, ascending (with repeats). tokens
// are the ids of [first, first + tokens.size()). A shard's first token always begins a document.
void find_document_starts(const TokenSource& source, int64_t first, std::span<const int32_t> tokens,
                          std::optional<uint32_t> eot, int64_t vocab, std::vector<int32_t>& starts);

}  // namespace trireme
