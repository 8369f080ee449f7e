// What tokenizer.json and GPT-2's pair of files have in common: tokens in ByteText's writing.
#include <algorithm>

#include "base/error.h"
#include "io/tokenizer/formats.h"

namespace trireme {
namespace {

constexpr uint64_t kSparse = 1 << 16;  // ids may go this far beyond what their number needs

void place(std::vector<std::string>& tokens, uint64_t id, std::string bytes, const std::string& source) {
  if (id >= tokens.size()) tokens.resize(id + 1);
  if (bytes.empty()) fail_user("{}: token {} is empty", source, id);
  if (!tokens[id].empty() && tokens[id] != bytes) fail_user("{}: id {} is given to two tokens", source, id);
  tokens[id] = std::move(bytes);
}

}  // namespace

Tokenizer tokenizer_of_vocab(std::span<const VocabEntry> vocab, const std::vector<SpecialToken>& literal,
                             const std::string& source) {
  Tokenizer tokenizer;
  const uint64_t most = 2 * (vocab.size() + literal.size()) + kSparse;
  std::vector<std::string_view> names;
  for (const SpecialToken& special : literal) {
    if (special.id >= most) fail_user("{}: id {} is too large for so few tokens", source, special.id);
    place(tokenizer.tokens, special.id, special.content, source);
    names.push_back(special.content);
  }
  std::sort(names.begin(), names.end());
  const ByteText writing;
  for (const VocabEntry& entry : vocab) {
    if (entry.id >= most) fail_user("{}: id {} is too large for so few tokens", source, entry.id);
    if (std::binary_search(names.begin(), names.end(), entry.text)) {
      place(tokenizer.tokens, entry.id, std::string(entry.text), source);
      continue;
    }
    std::optional<std::string> bytes = writing.to_bytes(entry.text);
    if (!bytes) {
      fail_user("{}: token {} ({}) is not in byte-level writing; only byte-level BPE is supported", source,
                entry.id, entry.text);
    }
    place(tokenizer.tokens, entry.id, std::move(*bytes), source);
  }
  tokenizer.specials = literal;
  return tokenizer;
}

MergeReader::MergeReader(const Tokenizer& tokenizer, const std::string& source)
    : tokenizer_(tokenizer), source_(source) {
  by_bytes_.reset(tokenizer.tokens.size());
  for (uint32_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (!tokenizer.tokens[id].empty()) by_bytes_.insert(tokenizer.tokens, id);
  }
}

uint32_t MergeReader::find(const std::string& bytes, std::string_view text, uint32_t number) const {
  const uint32_t id = by_bytes_.find(tokenizer_.tokens, bytes);
  if (id == TokenTable::kNone) {
    fail_user("{}: merge {} needs the token {}, which is not in the vocabulary", source_, number, text);
  }
  return id;
}

Merge MergeReader::read(std::string_view left, std::string_view right, uint32_t number) const {
  const std::optional<std::string> left_bytes = writing_.to_bytes(left);
  const std::optional<std::string> right_bytes = writing_.to_bytes(right);
  if (!left_bytes || !right_bytes || left_bytes->empty() || right_bytes->empty()) {
    fail_user("{}: merge {} ({} {}) is not two tokens in byte-level writing", source_, number, left, right);
  }
  return {find(*left_bytes, left, number), find(*right_bytes, right, number),
          find(*left_bytes + *right_bytes, fmt::format("{}{}", left, right), number), number};
}

void keep_last_merges(std::vector<Merge>& merges) {
  PairTable seen;
  seen.reset(merges.size());
  std::vector<Merge> kept;
  for (size_t i = merges.size(); i-- > 0;) {
    if (seen.insert(merges[i].left, merges[i].right, {merges[i].priority, merges[i].result})) {
      kept.push_back(merges[i]);
    }
  }
  std::reverse(kept.begin(), kept.end());
  merges = std::move(kept);
}

}  // namespace trireme
