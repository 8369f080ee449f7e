// Byte-level BPE: text <-> token ids, and training of vocabularies. Callers (data tool, generation, the
// CLI) see bytes, ids and files; which file format a tokenizer came from is forgotten after loading.
//
// Every byte string encodes and decodes back to itself. Bytes that are not valid UTF-8 count, one by one, as
// characters that are neither letter, number nor space. Text that spells a special token is ordinary text,
// unless encode_with_specials is called. docs/tokenizer.md has the rules in full.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/pair_table.h"
#include "io/tokenizer/split_pattern.h"
#include "io/tokenizer/token_table.h"

namespace trireme {

// A merge of two neighbouring tokens. Of all that apply, the one of least priority goes first, the leftmost
// of several such.
struct Merge {
  uint32_t left, right;  // ids
  uint32_t result;       // id of the token whose bytes are left's then right's
  uint32_t priority;
};

// A token that text never gives by itself: end of text and the like.
struct SpecialToken {
  uint32_t id;
  std::string content;
};

// Plain data, then indices over it that `index_tokenizer` makes.
struct Tokenizer {
  std::vector<std::string> tokens;     // bytes by id; empty where an id is unused; specials included
  std::vector<Merge> merges;           // by ascending priority
  std::vector<SpecialToken> specials;  // by ascending id
  SplitPattern pattern;
  bool ignore_merges = false;  // a piece that is a token as a whole is that token, whatever the merges give
  bool add_prefix_space = false;  // text that does not begin with a space gets one (no exact round trip then)

  std::array<uint32_t, 256> byte_ids{};  // id of each single byte
  PairTable pairs;                       // (left, right) -> priority, result
  TokenTable by_bytes;                   // bytes -> id, specials left out
};

// Makes the indices. UserError names `source` where the data is no byte-level tokenizer: a byte without a
// token, two tokens with the same bytes, a merge that does not fit its result.
void index_tokenizer(Tokenizer& tokenizer, const std::string& source);

// What a tiktoken rank file does not say. Unset fields are guessed from the number of ranks (GPT-2, cl100k,
// o200k and Llama 3 are known) or the file's name.
struct LoadOptions {
  std::optional<std::string> pattern;                // gpt2, cl100k, o200k, llama3 or a regular expression
  std::optional<std::vector<std::string>> specials;  // given the ids after the last rank, in this order
};

// Reads a Hugging Face tokenizer.json, a tiktoken rank file, or vocab.bpe with encoder.json beside it (also
// merges.txt with vocab.json); a folder that holds one of these will do. Which it is, is seen from the
// content. UserError: the file is malformed or asks for what is not supported. EnvError: it cannot be read.
Tokenizer load_tokenizer(const std::string& path);
Tokenizer load_tokenizer(const std::string& path, const LoadOptions& options);

// Writes a tokenizer.json that Hugging Face's `tokenizers` reads, by way of a temporary name. EnvError.
void save_tokenizer(const Tokenizer& tokenizer, const std::string& path);

struct TrainOptions {
  int64_t vocab_size = 32768;                          // bytes, merges and specials together
  std::string pattern = "gpt2";                        // gpt2, cl100k, o200k or llama3
  std::vector<std::string> specials{"<|endoftext|>"};  // get the last ids
  int64_t min_count = 2;                               // a pair seen less often is not merged
  int threads = 0;                                     // 0: all cores; the result does not depend on it
};

// Byte-level BPE over the files' bytes. The 256 bytes come first (in GPT-2's order), then merges by falling
// count, ties to the smaller (left id, right id); specials last. Fewer tokens than asked for come back when
// no pair is left with min_count. UserError: options that make no sense. EnvError: a file cannot be read.
Tokenizer train_tokenizer(std::span<const std::string> files, const TrainOptions& options);

// Encodes with one tokenizer, which must outlive it and stay where it is. Remembers short pieces; use one
// Encoder per thread. Any number of Encoders may share a Tokenizer.
class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // Appends the ids of `text`, a whole document, to `out`. Time is linear in its length. UserError: a regular
  // expression of the tokenizer's own gave up on this text.
  void encode(std::string_view text, std::vector<uint32_t>& out);

  // The same, but text that spells a special token becomes that token (of two that begin at one place, the
  // longer).
  void encode_with_specials(std::string_view text, std::vector<uint32_t>& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The bytes of the ids one after another. UserError: an id that is not in the vocabulary.
std::string decode(const Tokenizer& tokenizer, std::span<const uint32_t> ids);

// One more than the largest id.
int64_t vocab_size(const Tokenizer& tokenizer);

// The id that ends a document: <|endoftext|>, <|end_of_text|>, </s> or <|eot|>, if one of them is special.
std::optional<uint32_t> end_of_text(const Tokenizer& tokenizer);

// The bytes of one token; empty for an unused id. UserError: an id that is not in the vocabulary.
std::string_view token_bytes(const Tokenizer& tokenizer, uint32_t id);

}  // namespace trireme
