// Training beyond the golden vocabularies: ties, overlaps, limits, refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "io/tokenizer/corpus.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

using testing::ElementsAre;

std::vector<std::string> trained_tokens(const std::string& text, TrainOptions options = {}) {
  const std::string path = testing::TempDir() + fmt::format("trireme_train_{}.txt", getpid());
  std::ofstream(path, std::ios::binary) << text;
  const std::string files[] = {path};
  if (options.vocab_size == TrainOptions().vocab_size) options.vocab_size = 300;
  const Tokenizer t = train_tokenizer(files, options);
  std::filesystem::remove(path);
  return {t.tokens.begin() + 256, t.tokens.end()};
}

TEST(Train, TheMostFrequentPairComesFirstAndTiesGoToTheSmallerIds) {
  // Counts: (x,y) 3; (a,b), (c,d) 2; then (" ",xy), (" ",ab), (" ",cd) 2 each, whose right ids rise in that
  // order.
  EXPECT_THAT(trained_tokens("xy xy xy cd cd ab ab"),
              ElementsAre("xy", "ab", "cd", " xy", " ab", " cd", "<|endoftext|>"));
}

TEST(Train, OverlappingPairsAreMergedFromTheLeft) {
  // "aaaaa": pairs (a,a) 4 per word; then aa aa a.
  EXPECT_THAT(trained_tokens("aaaaa\naaaaa\n"), ElementsAre("aa", "aaa", "aaaaa", "<|endoftext|>"));
}

TEST(Train, PairsBelowTheLeastCountAreNotMerged) {
  TrainOptions options;
  options.min_count = 3;
  EXPECT_THAT(trained_tokens("xy xy xy cd cd", options), ElementsAre("xy", "<|endoftext|>"));
}

TEST(Train, SpecialTokensComeLastAndBytesOfAnyKindAreText) {
  TrainOptions options;
  options.specials = {"<|endoftext|>", "<|pad|>"};
  EXPECT_THAT(trained_tokens("\xff\xff \xff\xff", options),
              ElementsAre("\xff\xff", "<|endoftext|>", "<|pad|>"));
  EXPECT_THAT(trained_tokens("", options), ElementsAre("<|endoftext|>", "<|pad|>"));
}

TEST(Train, VeryLongPiecesAreLeftOut) {
  EXPECT_THAT(trained_tokens(std::string(5'000'000, 'a') + " xy xy"),
              ElementsAre("xy", " xy", "<|endoftext|>"));
}

TEST(Train, ManyChunksGiveTheSameForAnyNumberOfThreads) {
  std::string text;
  for (uint64_t i = 0; text.size() < 10'000'000; ++i)
    text += corpus::letters(i % 5000, 3 + i % 5) + (i % 7 ? " " : "\n");
  TrainOptions options;
  options.vocab_size = 600;
  options.threads = 1;
  const auto one = trained_tokens(text, options);
  options.threads = 4;
  EXPECT_EQ(trained_tokens(text, options), one);
}

TEST(Train, RefusesWhatMakesNoSense) {
  TrainOptions options;
  options.vocab_size = 256;
  EXPECT_THAT(
      [&] { trained_tokens("x", options); },
      testing::ThrowsMessage<UserError>(testing::HasSubstr("vocabulary size 256 is out of range; use 257")));
  options = {};
  options.pattern = "gpt3";
  EXPECT_THAT([&] { trained_tokens("x", options); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("gpt3")));
  options = {};
  options.specials = {"xy"};
  EXPECT_THAT([&] { trained_tokens("xy xy", options); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("special token xy")));
  options.specials = {"<a>", "<a>"};
  EXPECT_THROW(trained_tokens("x", options), UserError);
  const std::string missing[] = {std::string("no/such/file.txt")};
  EXPECT_THROW(train_tokenizer(missing, {}), EnvError);
}

}  // namespace
}  // namespace trireme
