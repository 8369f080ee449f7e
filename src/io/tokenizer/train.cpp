// BPE training on word counts. The most frequent pair of neighbouring tokens becomes a token, again and
// again; of equal counts the pair with the smaller (left id, right id) wins, so the outcome depends on the
// text alone. Each pair knows the words it occurs in, so that a merge touches those only. Counts in the heap
// may be out of date; they are put right when they come up. (Sennrich, Haddow, Birch 2016; the tie rule and
// the counting of overlaps are those of Hugging Face's trainer, so that the merges come out the same.)
#include <algorithm>
#include <queue>
#include <thread>
#include <unordered_map>

#include "base/error.h"
#include "io/tokenizer/byte_text.h"
#include "io/tokenizer/tokenizer.h"
#include "io/tokenizer/word_counts.h"

namespace trireme {
namespace {

uint64_t pair_key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

struct PairKeyHash {
  size_t operator()(uint64_t key) const { return (key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 7; }
};

// A word as the tokens it is made of so far.
struct TrainedWord {
  size_t first;  // of its tokens in `symbols`
  uint32_t size;
  int64_t count;
};

struct PairState {
  int64_t count = 0;
  std::vector<uint32_t> words;  // it occurs, or once occurred, in these; a word may stand there twice
};

struct Candidate {
  int64_t count;
  uint64_t pair;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class Trainer {
 public:
  Trainer(Tokenizer& tokenizer, const WordCounts& counts) : tokenizer_(tokenizer) {
    for (uint32_t id = 0; id < 256; ++id) {
      byte_ids_[static_cast<unsigned char>(tokenizer.tokens[id][0])] = id;
      id_of_[tokenizer.tokens[id]] = id;
    }
    for (const WordCounts::Word& word : counts.words()) {
      if (word.bytes < 2) continue;
      words_.push_back({symbols_.size(), word.bytes, word.count});
      for (const char c : counts.bytes_of(word)) symbols_.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    }
    for (uint32_t w = 0; w < words_.size(); ++w) {
      const uint32_t* symbols = &symbols_[words_[w].first];
      for (uint32_t i = 0; i + 1 < words_[w].size; ++i)
        change(symbols[i], symbols[i + 1], words_[w].count, w);
    }
    for (const auto& [pair, state] : pairs_) heap_.push({state.count, pair});
  }

  // Adds merges until there are `tokens` tokens or no pair is left with `min_count`.
  void run(size_t tokens, int64_t min_count) {
    while (tokenizer_.tokens.size() < tokens && !heap_.empty()) {
      Candidate best = heap_.top();
      heap_.pop();
      const auto entry = pairs_.find(best.pair);
      const int64_t now = entry == pairs_.end() ? 0 : entry->second.count;
      if (now != best.count) {
        if (now > 0) heap_.push({now, best.pair});
        continue;
      }
      if (best.count < std::max<int64_t>(min_count, 1)) break;
      const std::vector<uint32_t> words = std::move(entry->second.words);
      pairs_.erase(entry);
      merge(static_cast<uint32_t>(best.pair >> 32), static_cast<uint32_t>(best.pair), words);
    }
  }

 private:
  void merge(uint32_t left, uint32_t right, const std::vector<uint32_t>& words) {
    const auto known = merged_.find(pair_key(left, right));
    const uint32_t result = known != merged_.end()
                                ? known->second
                                : token_for(tokenizer_.tokens[left] + tokenizer_.tokens[right]);
    if (merged_.try_emplace(pair_key(left, right), result).second) {
      tokenizer_.merges.push_back({left, right, result, static_cast<uint32_t>(tokenizer_.merges.size())});
    }
    fresh_.clear();
    for (const uint32_t w : words) merge_in_word(w, left, right, result);
    std::sort(fresh_.begin(), fresh_.end());
    fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
    for (const uint64_t pair : fresh_) {
      const auto entry = pairs_.find(pair);
      if (entry != pairs_.end() && entry->second.count > 0) heap_.push({entry->second.count, pair});
    }
  }

  // The token with these bytes: two merges can lead to one token.
  uint32_t token_for(const std::string& bytes) {
    const auto [entry, added] = id_of_.try_emplace(bytes, static_cast<uint32_t>(tokenizer_.tokens.size()));
    if (added) tokenizer_.tokens.push_back(bytes);
    return entry->second;
  }

  void merge_in_word(uint32_t w, uint32_t left, uint32_t right, uint32_t result) {
    TrainedWord& word = words_[w];
    uint32_t* symbols = &symbols_[word.first];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < word.size; ++i) {
      if (symbols[i] != left || i + 1 >= word.size || symbols[i + 1] != right) {
        symbols[kept++] = symbols[i];
        continue;
      }
      if (kept > 0) {
        change(symbols[kept - 1], left, -word.count, w);
        change(symbols[kept - 1], result, word.count, w);
        fresh_.push_back(pair_key(symbols[kept - 1], result));
      }
      if (i + 2 < word.size) {
        change(right, symbols[i + 2], -word.count, w);
        change(result, symbols[i + 2], word.count, w);
        fresh_.push_back(pair_key(result, symbols[i + 2]));
      }
      symbols[kept++] = result;
      ++i;
    }
    word.size = kept;
  }

  void change(uint32_t left, uint32_t right, int64_t by, uint32_t w) {
    if (by < 0) {
      const auto entry = pairs_.find(pair_key(left, right));
      if (entry != pairs_.end()) entry->second.count += by;
      return;
    }
    PairState& state = pairs_[pair_key(left, right)];
    state.count += by;
    if (state.words.empty() || state.words.back() != w) state.words.push_back(w);
  }

  Tokenizer& tokenizer_;
  std::array<uint32_t, 256> byte_ids_;
  std::unordered_map<std::string, uint32_t> id_of_;
  std::vector<uint32_t> symbols_;
  std::vector<TrainedWord> words_;
  std::unordered_map<uint64_t, PairState, PairKeyHash> pairs_;
  std::priority_queue<Candidate> heap_;
  std::unordered_map<uint64_t, uint32_t, PairKeyHash>
      merged_;                   // pair -> token, so that one that came up again stays one merge
  std::vector<uint64_t> fresh_;  // pairs that the current merge has made
};

void check_options(const TrainOptions& options, const SplitPattern& pattern) {
  const int64_t least = 256 + static_cast<int64_t>(options.specials.size());
  if (options.vocab_size < least || options.vocab_size > (1 << 24)) {
    fail_user("vocabulary size {} is out of range; use {} (the bytes and {} special tokens) to {}",
              options.vocab_size, least, options.specials.size(), 1 << 24);
  }
  if (pattern.kind == SplitKind::Regex) {
    fail_user("split pattern {} is not known for training; use gpt2, cl100k, o200k or llama3",
              options.pattern);
  }
  for (size_t i = 0; i < options.specials.size(); ++i) {
    const std::string& special = options.specials[i];
    if (special.empty()) fail_user("a special token must not be empty");
    if (std::count(options.specials.begin(), options.specials.end(), special) > 1) {
      fail_user("special token {} is given twice", special);
    }
  }
}

}  // namespace

Tokenizer train_tokenizer(std::span<const std::string> files, const TrainOptions& options) {
  Tokenizer tokenizer;
  tokenizer.pattern = split_pattern(options.pattern);
  check_options(options, tokenizer.pattern);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads > 0 ? options.threads : cores;
  for (const unsigned char byte : gpt2_byte_order())
    tokenizer.tokens.emplace_back(1, static_cast<char>(byte));
  {
    const WordCounts counts = count_words({files.begin(), files.end()}, tokenizer.pattern, threads);
    Trainer trainer(tokenizer, counts);
    trainer.run(static_cast<size_t>(options.vocab_size) - options.specials.size(), options.min_count);
  }
  for (const std::string& special : options.specials) {
    if (std::find(tokenizer.tokens.begin(), tokenizer.tokens.end(), special) != tokenizer.tokens.end()) {
      fail_user(
          "special token {} is also an ordinary token of this text; use one that does not occur, like "
          "<|name|>",
          special);
    }
    tokenizer.specials.push_back({static_cast<uint32_t>(tokenizer.tokens.size()), special});
    tokenizer.tokens.push_back(special);
  }
  index_tokenizer(tokenizer, "trained tokenizer");
  return tokenizer;
}

}  // namespace trireme
