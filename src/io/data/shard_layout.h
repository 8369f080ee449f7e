// What the bytes of a token shard say: where the ids lie, how wide they are, where documents end. One parser
// per format, over bytes in memory, so that they are tested and fuzzed without files; token_shard.h opens
// files.
//
// Every parser checks the whole of its header and index against the sizes at hand and throws UserError (with
// the file's name, expected and actual bytes) rather than read past an end. The ids themselves are not read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trireme {

using Bytes = std::span<const std::byte>;

enum class TokenType : uint8_t { u8, i8, i16, i32, i64, u16, u32 };

int64_t size_of(TokenType type);           // bytes per id
std::string_view name_of(TokenType type);  // "u16"

enum class ShardFormat : uint8_t { llm_c, llm_c_llama, megatron, datatrove, plain };

std::string_view name_of(ShardFormat format);  // "llm.c"

// The id that stands between documents by the format's own rule, in formats without an index: GPT-2's
// <|endoftext|> or Llama 3's <|begin_of_text|> in llm.c's two. -1 where the format has no such rule.
int64_t prescribed_delimiter(ShardFormat format);
// Documents begin with the delimiter (llm.c), or they end with it.
bool begins_with_delimiter(ShardFormat format);

// Pointers are into the parsed bytes, which must outlive it. Fields are unaligned.
struct ShardLayout {
  ShardFormat format = ShardFormat::plain;
  TokenType type = TokenType::u16;
  const std::byte* tokens = nullptr;
  int64_t count = 0;  // tokens

  bool has_documents = false;                   // the format keeps a document index
  int64_t documents = 0;                        // with has_documents
  const std::byte* document_ends = nullptr;     // datatrove: u64 end of each document, in tokens
  const std::byte* document_starts = nullptr;   // Megatron: i64 first sequence of each document, and one more
  const std::byte* sequence_offsets = nullptr;  // Megatron: i64 byte offset of each sequence
  int64_t sequences = 0;                        // Megatron
};

// True when the bytes begin with one of llm.c's two magics.
bool looks_like_llm_c(Bytes file);
// True when the bytes begin as a Megatron index does.
bool looks_like_megatron_index(Bytes index);

ShardLayout parse_llm_c(const std::string& name, Bytes file);
// `name` is the .bin file's; the index is named in errors as `index_name`.
ShardLayout parse_megatron(const std::string& name, Bytes bin, const std::string& index_name, Bytes index);
// metadata: the text of .ds.metadata, or empty. Without it the width follows from the index's last entry.
ShardLayout parse_datatrove(const std::string& name, Bytes ds, Bytes index, Bytes metadata);
ShardLayout parse_plain(const std::string& name, Bytes file, TokenType type);

// One past the last token of document d (0 <= d < documents); it starts where document d-1 ends.
int64_t document_end(const ShardLayout& layout, int64_t d);
// The first document that ends after token `position` (0 <= position < count). O(log documents).
int64_t document_at(const ShardLayout& layout, int64_t position);

// Copies ids [first, first + count) to `out` and returns the largest as an unsigned number, so that negative
// ids come back as huge ones. Ids that do not fit int32 are cut; the caller refuses them by the maximum.
uint64_t read_tokens(const ShardLayout& layout, int64_t first, int64_t count, int32_t* out);
// The id at `position`, uncut.
int64_t token_at(const ShardLayout& layout, int64_t position);

// Loads a little-endian number from unaligned bytes.
template <class T>
T load_le(const std::byte* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace trireme
