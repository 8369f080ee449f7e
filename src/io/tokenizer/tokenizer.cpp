// What a loaded or trained Tokenizer answers, and the making of its indices, where its data is checked once
// for all.
#include "io/tokenizer/tokenizer.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {
namespace {

// Readable bytes of a token for a message.
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 40)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return '"' + text + (bytes.size() > 40 ? "...\"" : "\"");
}

void index_tokens(Tokenizer& t, const std::string& source) {
  std::vector<bool> special(t.tokens.size());
  for (const SpecialToken& s : t.specials) special[s.id] = true;
  t.by_bytes.reset(t.tokens.size());
  for (uint32_t id = 0; id < t.tokens.size(); ++id) {
    if (t.tokens[id].empty() || special[id]) continue;
    const uint32_t other = t.by_bytes.insert(t.tokens, id);
    if (other != TokenTable::kNone) {
      fail_user("{}: tokens {} and {} are both {}; each needs its own bytes", source, other, id,
                shown(t.tokens[id]));
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    t.byte_ids[static_cast<size_t>(byte)] = t.by_bytes.find(t.tokens, {&c, 1});
    if (t.byte_ids[static_cast<size_t>(byte)] == TokenTable::kNone) {
      fail_user("{}: no token for the byte 0x{:02x}; a byte-level vocabulary has all 256 bytes", source,
                byte);
    }
  }
}

void index_merges(Tokenizer& t, const std::string& source) {
  t.pairs.reset(t.merges.size());
  for (const Merge& m : t.merges) {
    const std::string& left = t.tokens[m.left];
    const std::string& right = t.tokens[m.right];
    const std::string& result = t.tokens[m.result];
    if (left.empty() || right.empty() || result.size() != left.size() + right.size() ||
        !result.starts_with(left) || !result.ends_with(right)) {
      fail_user("{}: merge of {} and {} does not give token {} {}", source, shown(left), shown(right),
                m.result, shown(result));
    }
    if (!t.pairs.insert(m.left, m.right, {m.priority, m.result})) {
      fail_user("{}: the merge of {} and {} stands there twice", source, shown(left), shown(right));
    }
  }
}

}  // namespace

void index_tokenizer(Tokenizer& tokenizer, const std::string& source) {
  const size_t size = tokenizer.tokens.size();
  CHECK(size < (size_t{1} << 31), "{} tokens", size);
  std::sort(tokenizer.specials.begin(), tokenizer.specials.end(),
            [](const SpecialToken& a, const SpecialToken& b) { return a.id < b.id; });
  for (const SpecialToken& s : tokenizer.specials) CHECK(s.id < size, "special {} of {}", s.id, size);
  for (const Merge& m : tokenizer.merges) {
    CHECK(m.left < size && m.right < size && m.result < size, "{} {} {} of {}", m.left, m.right, m.result,
          size);
  }
  index_tokens(tokenizer, source);
  index_merges(tokenizer, source);
}

std::string decode(const Tokenizer& tokenizer, std::span<const uint32_t> ids) {
  std::string text;
  for (const uint32_t id : ids) {
    const std::string_view bytes = token_bytes(tokenizer, id);
    if (bytes.empty()) fail_user("id {} stands for no token of this vocabulary", id);
    text += bytes;
  }
  return text;
}

int64_t vocab_size(const Tokenizer& tokenizer) { return static_cast<int64_t>(tokenizer.tokens.size()); }

std::optional<uint32_t> end_of_text(const Tokenizer& tokenizer) {
  for (const char* name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<|eot|>"}) {
    for (const SpecialToken& special : tokenizer.specials) {
      if (special.content == name) return special.id;
    }
  }
  return std::nullopt;
}

std::string_view token_bytes(const Tokenizer& tokenizer, uint32_t id) {
  if (id >= tokenizer.tokens.size()) {
    fail_user("id {} is outside the vocabulary of {} tokens; is this the tokenizer that made the ids?", id,
              tokenizer.tokens.size());
  }
  return tokenizer.tokens[id];
}

}  // namespace trireme
