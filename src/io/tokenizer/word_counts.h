// Counts the distinct pieces of a body of text: the table that training works on instead of the text. Open
// addressing over one buffer that holds the pieces' bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/split_pattern.h"

namespace trireme {

class WordCounts {
 public:
  struct Word {
    uint64_t hash;
    size_t offset;  // in the buffer
    uint32_t bytes;
    int64_t count;
  };

  WordCounts();

  void add(std::string_view word, int64_t count);
  void add_all(const WordCounts& other);

  const std::vector<Word>& words() const { return words_; }
  std::string_view bytes_of(const Word& word) const { return {buffer_.data() + word.offset, word.bytes}; }

 private:
  void grow();

  std::string buffer_;
  std::vector<Word> words_;       // by first appearance
  std::vector<uint32_t> places_;  // hash -> 1 + index of the word; 0: free
};

// Counts the pieces of all files with `threads` threads. What comes back is the same multiset for any number
// of them: a file is cut only where every known pattern ends a piece (before a letter or digit that follows a
// line feed). Pieces longer than kMaxTrainedPiece are left out. EnvError: a file cannot be read.
inline constexpr size_t kMaxTrainedPiece = 4096;  // bytes
WordCounts count_words(const std::vector<std::string>& files, const SplitPattern& pattern, int threads);

}  // namespace trireme
