// Cuts text into the pieces that BPE works on, by the four known patterns, written by hand. Each piece
// follows from a bounded number of looks at its characters, so a text takes linear time whatever is in it.
#pragma once
#include <string_view>

#include "io/tokenizer/char_class.h"
#include "io/tokenizer/split_pattern.h"

namespace trireme {

class Splitter {
 public:
  // `pattern.kind` is not Regex (regex_split.h has that).
  explicit Splitter(const SplitPattern& pattern);

  // Calls visit(std::string_view piece) for each piece in order; together they are `text`.
  template <class Visit>
  void split(std::string_view text, Visit&& visit) const {
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
      const char* next = (this->*piece_end_)(at, end);
      visit(std::string_view(at, next - at));
      at = next;
    }
  }

 private:
  using PieceEnd = const char* (Splitter::*)(const char* at, const char* end) const;

  // Each returns where the piece that begins at `at` < `end` stops; the text goes on to `end`.
  const char* gpt2(const char* at, const char* end) const;
  const char* llama3(const char* at, const char* end) const;  // Cl100k too
  const char* o200k(const char* at, const char* end) const;

  const char* cased_word(const char* at, const char* end) const;
  const char* digits(const char* at, const char* end) const;
  const char* space_run(const char* at, const char* end) const;
  const char* spaces(const char* at, const char* end) const;
  const char* lines(const char* at, const char* end) const;

  CharClasses classes_;
  PieceEnd piece_end_;
  int max_digits_;
  bool end_spaces_whole_;  // Cl100k: \s+\z comes before \s*[\r\n]
};

}  // namespace trireme
