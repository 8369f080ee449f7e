// Reads a tiktoken rank file. tiktoken merges any two neighbours whose bytes together are a token, by that
// token's rank; so every way to cut a token into two tokens becomes a merge of that priority.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "io/tokenizer/formats.h"

namespace trireme {
namespace {

constexpr uint32_t kMaxRank = 1u << 24;
constexpr size_t kMaxTokenBytes = 1 << 16;

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

std::optional<std::string> base64_bytes(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_value(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::vector<std::string> read_ranks(std::string_view text, const std::string& source) {
  std::vector<std::string> tokens;
  const size_t entries = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t stop = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, stop);
    text.remove_prefix(std::min(stop + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t space = std::min(line.find(' '), line.size());
    const std::optional<std::string> bytes = base64_bytes(line.substr(0, space));
    uint32_t rank = 0;
    const char* end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + std::min(space + 1, line.size()), end, rank);
    if (!bytes || bytes->empty() || bytes->size() > kMaxTokenBytes || parsed.ec != std::errc() ||
        parsed.ptr != end) {
      fail_user(
          "{}:{}: not \"base64 rank\"; is this a tokenizer.json, a tiktoken rank file or GPT-2's vocab.bpe?",
          source, number);
    }
    if (rank >= kMaxRank || rank > 2 * entries + 65536) {
      fail_user("{}:{}: rank {} is too large for {} lines", source, number, rank, entries);
    }
    if (rank >= tokens.size()) tokens.resize(rank + 1);
    if (!tokens[rank].empty()) fail_user("{}:{}: rank {} stands there twice", source, number, rank);
    tokens[rank] = *bytes;
  }
  return tokens;
}

void add_all_merges(Tokenizer& tokenizer) {
  TokenTable ids;
  ids.reset(tokenizer.tokens.size());
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (!tokenizer.tokens[id].empty()) ids.insert(tokenizer.tokens, id);
  }
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    const std::string_view bytes = tokenizer.tokens[id];
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const uint32_t left = ids.find(tokenizer.tokens, bytes.substr(0, cut));
      if (left == TokenTable::kNone) continue;
      const uint32_t right = ids.find(tokenizer.tokens, bytes.substr(cut));
      if (right != TokenTable::kNone) tokenizer.merges.push_back({left, right, id, id});
    }
  }
}

// The published vocabularies that are known by their number of ranks.
struct Known {
  size_t ranks;
  const char* pattern;
  std::vector<SpecialToken> specials;
};

std::vector<SpecialToken> llama3_specials() {
  std::vector<std::string> names = {"<|begin_of_text|>",
                                    "<|end_of_text|>",
                                    "<|reserved_special_token_0|>",
                                    "<|reserved_special_token_1|>",
                                    "<|finetune_right_pad_id|>",
                                    "<|reserved_special_token_2|>",
                                    "<|start_header_id|>",
                                    "<|end_header_id|>",
                                    "<|eom_id|>",
                                    "<|eot_id|>",
                                    "<|python_tag|>"};
  for (int i = 3; names.size() < 256; ++i) names.push_back(fmt::format("<|reserved_special_token_{}|>", i));
  std::vector<SpecialToken> specials;
  for (uint32_t i = 0; i < names.size(); ++i) specials.push_back({128000 + i, names[i]});
  return specials;
}

std::vector<Known> known_vocabularies() {
  return {
      {50256, "gpt2", {{50256, "<|endoftext|>"}}},
      {50280, "gpt2", {{50256, "<|endoftext|>"}}},
      {100256,
       "cl100k",
       {{100257, "<|endoftext|>"},
        {100258, "<|fim_prefix|>"},
        {100259, "<|fim_middle|>"},
        {100260, "<|fim_suffix|>"},
        {100276, "<|endofprompt|>"}}},
      {199998, "o200k", {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}},
      {128000, "llama3", llama3_specials()},
  };
}

// The pattern that the file's name speaks of, if any.
std::optional<std::string> pattern_in_name(const std::string& source) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kNames{{{"gpt2", "gpt2"},
                                                                       {"r50k", "gpt2"},
                                                                       {"p50k", "gpt2"},
                                                                       {"cl100k", "cl100k"},
                                                                       {"o200k", "o200k"},
                                                                       {"llama3", "llama3"}}};
  const std::string name = source.substr(source.find_last_of('/') + 1);
  for (const auto& [part, pattern] : kNames) {
    if (name.find(part) != std::string::npos) return pattern;
  }
  return std::nullopt;
}

}  // namespace

Tokenizer parse_tiktoken(std::string_view ranks, const std::string& source, const LoadOptions& options) {
  Tokenizer tokenizer;
  tokenizer.tokens = read_ranks(ranks, source);
  tokenizer.ignore_merges = true;
  add_all_merges(tokenizer);
  const size_t count = static_cast<size_t>(
      std::count_if(tokenizer.tokens.begin(), tokenizer.tokens.end(), [](auto& t) { return !t.empty(); }));
  std::optional<std::string> pattern = options.pattern;
  std::vector<SpecialToken> specials;
  if (options.specials) {
    for (const std::string& content : *options.specials) {
      specials.push_back({static_cast<uint32_t>(tokenizer.tokens.size() + specials.size()), content});
    }
  }
  for (const Known& known : known_vocabularies()) {
    if (known.ranks != count) continue;
    if (!pattern) pattern = known.pattern;
    if (!options.specials) specials = known.specials;
  }
  if (!pattern) pattern = pattern_in_name(source);
  if (!pattern) {
    fail_user(
        "{}: a rank file of {} ranks does not say its split pattern; give --pattern gpt2, cl100k, o200k or "
        "llama3",
        source, count);
  }
  tokenizer.pattern = split_pattern(*pattern);
  for (const SpecialToken& special : specials) {
    if (special.id >= tokenizer.tokens.size()) tokenizer.tokens.resize(special.id + 1);
    tokenizer.tokens[special.id] = special.content;
  }
  tokenizer.specials = specials;
  index_tokenizer(tokenizer, source);
  return tokenizer;
}

}  // namespace trireme
