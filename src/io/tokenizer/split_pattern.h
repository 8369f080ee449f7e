// Which regular expression cuts text into pieces before BPE: four well-known ones, which split.cpp matches by
// hand, or any other, which PCRE2 matches.
#pragma once
#include <string>
#include <string_view>

namespace trireme {

enum class SplitKind {
  Gpt2,
  Cl100k,  // as tiktoken has it: white space at the very end is one piece
  O200k,
  Llama3,  // also what cl100k was before tiktoken 0.6: Llama 3 took it over
  Regex,
};

struct SplitPattern {
  SplitKind kind = SplitKind::Gpt2;
  int max_digits = 3;  // longest piece of digits: 1, 2 or 3; of no meaning for Gpt2 and Regex
  std::string regex;   // the expression; of a known kind, the spelling that every library reads alike
};

// The pattern for a name (gpt2, cl100k, o200k, llama3) or a regular expression. A known expression in any of
// its published spellings, also with \p{N}{1,2} or \p{N} in place of \p{N}{1,3}, becomes the hand-written
// kind.
SplitPattern split_pattern(std::string_view name_or_regex);

// "gpt2", ..., "regex".
std::string_view split_kind_name(SplitKind kind);

}  // namespace trireme
