// The known split expressions in the spellings in which files carry them. Spellings that stand for the same
// pieces map to one kind; tests/io/tokenizer/split_test.cpp holds the hand-written splitter to each of them
// by PCRE2.
#include "io/tokenizer/split_pattern.h"

#include <array>

namespace trireme {
namespace {

struct Spelling {
  SplitKind kind;
  std::string_view regex;
};

// For each kind the first is the one that is saved. It must mean the same to Oniguruma (tokenizers), Rust's
// regex (tiktoken) and PCRE2: no possessive {1,3}+ (Oniguruma nests it), no $ (a line's end to Oniguruma).
// Sources: openai_public.py of tiktoken; the tokenizer.json of GPT-2, GPT-4o and Llama 3.
constexpr std::array kSpellings = {
    Spelling{SplitKind::Gpt2,
             R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Spelling{SplitKind::Gpt2,
             R"('s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Spelling{SplitKind::Gpt2, R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    Spelling{SplitKind::Gpt2,
             R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)"},
    Spelling{SplitKind::Llama3, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    Spelling{SplitKind::Llama3, R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}|)"
                                R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"},
    Spelling{SplitKind::Cl100k, R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                                R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s)"},
    Spelling{SplitKind::Cl100k, R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|)"
                                R"( ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)"},
    Spelling{SplitKind::O200k,
             R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
             R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
             R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
             R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
             R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

constexpr std::string_view kDigits3 = R"(\p{N}{1,3})";

// `regex` with the known \p{N}{1,3} written for at most `digits` digits.
std::string with_digits(std::string_view regex, int digits) {
  std::string text(regex);
  const size_t at = text.find(kDigits3);
  if (at == std::string::npos || digits == 3) return text;
  return text.replace(at, kDigits3.size(), digits == 2 ? R"(\p{N}{1,2})" : R"(\p{N})");
}

// The pattern of a known kind, in the spelling that is saved.
SplitPattern known(SplitKind kind, int digits) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.kind == kind) return {kind, digits, with_digits(spelling.regex, digits)};
  }
  return {};
}

}  // namespace

SplitPattern split_pattern(std::string_view name_or_regex) {
  for (const Spelling& spelling : kSpellings) {
    if (name_or_regex == split_kind_name(spelling.kind)) return known(spelling.kind, 3);
  }
  for (const Spelling& spelling : kSpellings) {
    for (int digits = 3; digits >= 1; --digits) {
      if (with_digits(spelling.regex, digits) == name_or_regex) return known(spelling.kind, digits);
    }
  }
  return {SplitKind::Regex, 3, std::string(name_or_regex)};
}

std::string_view split_kind_name(SplitKind kind) {
  switch (kind) {
    case SplitKind::Gpt2:
      return "gpt2";
    case SplitKind::Cl100k:
      return "cl100k";
    case SplitKind::O200k:
      return "o200k";
    case SplitKind::Llama3:
      return "llama3";
    case SplitKind::Regex:
      return "regex";
  }
  return "?";
}

}  // namespace trireme
