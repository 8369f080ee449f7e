// One reader per tokenizer file format; load.cpp looks at a file and calls the right one. Each takes the text
// of its files and a name for messages, and returns a Tokenizer with its indices made. UserError: malformed
// or not supported.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/byte_text.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {

// Hugging Face tokenizer.json.
Tokenizer parse_hugging_face(std::string_view json, const std::string& source);

// tiktoken ranks: lines "base64(bytes) rank".
Tokenizer parse_tiktoken(std::string_view ranks, const std::string& source, const LoadOptions& options);

// GPT-2: encoder.json (token -> id) and vocab.bpe (lines "left right"); vocab.json and merges.txt are the
// same.
Tokenizer parse_gpt2(std::string_view encoder, std::string_view merges, const std::string& source);

// --- shared by the readers

// One entry of a vocabulary: a token in ByteText's writing and its id.
struct VocabEntry {
  std::string_view text;
  uint64_t id;
};

// A Tokenizer with these tokens. A text in `literal` is a special token, whose bytes are the text itself.
Tokenizer tokenizer_of_vocab(std::span<const VocabEntry> vocab, const std::vector<SpecialToken>& literal,
                             const std::string& source);

// The merge of two tokens in ByteText's writing; `tokenizer.by_bytes` need not be made yet.
class MergeReader {
 public:
  MergeReader(const Tokenizer& tokenizer, const std::string& source);

  // "left right" -> the merge, `number` its priority. UserError: a part or the result is no token.
  Merge read(std::string_view left, std::string_view right, uint32_t number) const;

 private:
  uint32_t find(const std::string& bytes, std::string_view text, uint32_t number) const;

  const Tokenizer& tokenizer_;
  const std::string& source_;
  ByteText writing_;
  TokenTable by_bytes_;
};

// Drops all but the last of equal pairs, as Hugging Face's reader does.
void keep_last_merges(std::vector<Merge>& merges);

}  // namespace trireme
