// Merging gives the tokens that the rule gives when it is followed to the letter, for short and long pieces
// alike.
#include "io/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include "io/tokenizer/corpus.h"

namespace trireme {
namespace {

// The rule itself: the least priority, leftmost, until none applies.
std::vector<uint32_t> merged_by_rule(const Tokenizer& tokenizer, std::string_view piece) {
  std::vector<uint32_t> ids;
  for (const char c : piece) ids.push_back(tokenizer.byte_ids[static_cast<unsigned char>(c)]);
  while (true) {
    PairTable::Found best;
    size_t at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const PairTable::Found found = tokenizer.pairs.find(ids[i], ids[i + 1]);
      if (found.priority < best.priority) best = found, at = i;
    }
    if (best.priority == PairTable::kNone) return ids;
    ids[at] = best.result;
    ids.erase(ids.begin() + static_cast<int64_t>(at) + 1);
  }
}

// A vocabulary of bytes and of `words`, merged in any way that two tokens make a third. Unless `by_rank`, the
// priorities are shuffled, so that a merge often brings up a pair that goes before it.
Tokenizer tokenizer_of(const std::vector<std::string>& words, bool by_rank) {
  Tokenizer t;
  for (int byte = 0; byte < 256; ++byte) t.tokens.emplace_back(1, static_cast<char>(byte));
  t.tokens.insert(t.tokens.end(), words.begin(), words.end());
  for (uint32_t result = 256; result < t.tokens.size(); ++result) {
    for (uint32_t left = 0; left < t.tokens.size(); ++left) {
      for (uint32_t right = 0; right < t.tokens.size(); ++right) {
        if (t.tokens[left] + t.tokens[right] != t.tokens[result]) continue;
        const auto number = static_cast<uint32_t>(t.merges.size());
        t.merges.push_back({left, right, result, by_rank ? result : number * 7919 % 1009});
      }
    }
  }
  index_tokenizer(t, "test");
  return t;
}

TEST(MergePiece, FollowsTheRuleInShortAndLongPieces) {
  std::vector<std::string> words;
  for (const char* w : {"ab", "abc", "bc", "aa", "aaa", "aaaa", "ca", "cab", "bca", "abcabc", "aaaaaaaa",
                        "bb", "cc", "ccc", "bbb", "aab", "baa"}) {
    words.emplace_back(w);
  }
  const std::vector<std::string> atoms = {"a", "b", "c", "aa", "abc", "abcabc", "x"};
  for (const bool by_rank : {true, false}) {
    const Tokenizer tokenizer = tokenizer_of(words, by_rank);
    for (uint64_t seed = 0; seed < 300; ++seed) {
      const std::string piece = corpus::mixed(seed, 1 + seed * 3, atoms);
      std::vector<uint32_t> ids = {7};  // appends
      merge_piece(tokenizer, piece, ids);
      ids.erase(ids.begin());
      ASSERT_EQ(ids, merged_by_rule(tokenizer, piece)) << piece;
    }
  }
}

// "ab" has the last priority, and each merge of it brings up "abc", which goes before the other places of
// "ab": were those listed anew each time, the time would be quadratic.
TEST(MergePiece, TakesLinearTimeWhenEveryMergeBringsUpAnEarlierOne) {
  Tokenizer t = tokenizer_of({"ab", "abc"}, true);
  for (Merge& m : t.merges) m.priority = t.tokens[m.result] == "ab" ? 9 : 1;
  index_tokenizer(t, "test");
  std::string piece;
  for (int i = 0; i < 1'000'000; ++i) piece += "abc";
  std::vector<uint32_t> ids;
  merge_piece(t, piece, ids);
  EXPECT_EQ(ids, std::vector<uint32_t>(1'000'000, 257));
}

}  // namespace
}  // namespace trireme
