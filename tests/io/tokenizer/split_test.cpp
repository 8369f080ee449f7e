// The hand-written splitters cut text exactly as the expressions they stand for, here run by PCRE2.
#include "io/tokenizer/split.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "io/tokenizer/corpus.h"
#include "io/tokenizer/regex_split.h"

namespace trireme {
namespace {

using Pieces = std::vector<std::string>;

Pieces by_hand(const std::string& pattern, std::string_view text) {
  Pieces pieces;
  Splitter(split_pattern(pattern)).split(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

Pieces by_regex(const std::string& regex, std::string_view text) {
  Pieces pieces;
  RegexSplitter(regex).split(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

// The expressions as tiktoken 0.14 has them, and as Hugging Face's files do.
const std::pair<const char*, const char*> kExpressions[] = {
    {"gpt2", R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)"},
    {"gpt2", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {"cl100k", R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|)"
               R"(\s++\z|\s*[\r\n]|\s+(?!\S)|\s)"},
    {"llama3",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"o200k",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

TEST(Split, HandWrittenEqualsTheExpressionOnShortRandomTexts) {
  const std::vector<std::string> atoms = {"a",  "B",   "ʰ",   "日",     "\u0301", "ǅ",  "7",     "²",  " ",
                                          "\n", "\r",  "\t",  "\u00a0", "'s",     "'S", "'",     "'ſ", "'LL",
                                          "'",  "'re", "'vE", "!",      "/",      "☃",  "\u2003"};
  for (const auto& [name, regex] : kExpressions) {
    RegexSplitter reference(regex);
    const Splitter splitter(split_pattern(name));
    for (uint64_t seed = 0; seed < 20'000; ++seed) {
      const std::string text = corpus::mixed(seed, 1 + seed % 24, atoms);
      Pieces expected, got;
      reference.split(text, [&](std::string_view piece) { expected.emplace_back(piece); });
      splitter.split(text, [&](std::string_view piece) { got.emplace_back(piece); });
      ASSERT_EQ(got, expected) << name << " on " << testing::PrintToString(text);
    }
  }
}

TEST(Split, WhiteSpaceAtTheEndSetsCl100kAndLlama3Apart) {
  EXPECT_EQ(by_hand("cl100k", "a \n  "), (Pieces{"a", " \n  "}));
  EXPECT_EQ(by_hand("llama3", "a \n  "), (Pieces{"a", " \n", "  "}));
  EXPECT_EQ(by_hand("gpt2", "a \n  "), (Pieces{"a", " \n  "}));
}

TEST(Split, InvalidBytesAreEachACharacterOfNoClass) {
  EXPECT_EQ(by_hand("gpt2", "caf\xe9 x"), (Pieces{"caf", "\xe9", " x"}));
  EXPECT_EQ(by_hand("llama3",
                    "\xff"
                    "abc\xe4\xb8"),
            (Pieces{"\xff"
                    "abc",
                    "\xe4\xb8"}));
  EXPECT_EQ(by_hand("llama3",
                    "\xe4\xb8"
                    "abc"),
            (Pieces{"\xe4\xb8", "abc"}));  // the first of a run takes no word
}

TEST(Split, KnownExpressionsBecomeHandWritten) {
  for (const auto& [name, regex] : kExpressions) {
    if (std::string_view(regex).find("\\z") != std::string_view::npos) continue;
    EXPECT_EQ(split_kind_name(split_pattern(regex).kind), name);
  }
  const SplitPattern two = split_pattern(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
      R"(\s+(?!\S)|\s+)");
  EXPECT_EQ(two.kind, SplitKind::Llama3);
  EXPECT_EQ(two.max_digits, 1);
  EXPECT_EQ(by_hand(two.regex, "1234"), (Pieces{"1", "2", "3", "4"}));
  EXPECT_EQ(split_pattern("[a-z]+").kind, SplitKind::Regex);
}

TEST(RegexSplit, GivesMatchesAndWhatIsBetween) {
  EXPECT_EQ(by_regex("[0-9]+",
                     "ab12\xff"
                     "3c"),
            (Pieces{"ab", "12", "\xff", "3", "c"}));
  EXPECT_EQ(by_regex("x*", "abc"), (Pieces{"abc"}));
  EXPECT_EQ(by_regex("a", ""), Pieces{});
}

TEST(RegexSplit, RefusesWhatIsNoExpressionAndGivesUpOnExplosions) {
  EXPECT_THROW(by_regex("(a", "x"), UserError);
  EXPECT_THROW(by_regex("(a+)+$|(?:a|aa)+b", std::string(60, 'a') + "!"), UserError);
}

}  // namespace
}  // namespace trireme
