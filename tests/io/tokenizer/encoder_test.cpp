// What an Encoder promises besides the golden ids: special tokens as text or as tokens, exact round trips,
// and the look-ups of a Tokenizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "io/tokenizer/corpus.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

using Ids = std::vector<uint32_t>;

// The 300 tokens of the golden GPT-2 pair, then "<|endoftext|>" as 300; `also` follows.
Tokenizer small(const std::vector<std::string>& also = {}) {
  Tokenizer t = load_tokenizer(corpus::golden_folder() + "gpt2_pair");
  for (const std::string& special : also) {
    t.specials.push_back({static_cast<uint32_t>(t.tokens.size()), special});
    t.tokens.push_back(special);
  }
  index_tokenizer(t, "test");
  return t;
}

Ids encoded(const Tokenizer& t, std::string_view text) {
  Ids ids;
  Encoder(t).encode(text, ids);
  return ids;
}

Ids encoded_with_specials(const Tokenizer& t, std::string_view text) {
  Ids ids;
  Encoder(t).encode_with_specials(text, ids);
  return ids;
}

TEST(Encoder, TextThatSpellsASpecialTokenIsText) {
  const Tokenizer t = small();
  const Ids ids = encoded(t, "a<|endoftext|>b");
  EXPECT_THAT(ids, testing::Not(testing::Contains(300)));
  EXPECT_EQ(decode(t, ids), "a<|endoftext|>b");
}

TEST(Encoder, WithSpecialsTheLongestAtAPlaceIsTaken) {
  const Tokenizer t = small({"<|end", "<|endoftext|>!"});
  Ids expected = encoded(t, "a ");
  expected.insert(expected.end(), {300, 302, 301});
  for (const uint32_t id : encoded(t, "x<|")) expected.push_back(id);
  EXPECT_EQ(encoded_with_specials(t, "a <|endoftext|><|endoftext|>!<|endx<|"), expected);
  EXPECT_EQ(encoded_with_specials(t, ""), Ids{});
  EXPECT_EQ(decode(t, expected), "a <|endoftext|><|endoftext|>!<|endx<|");
}

TEST(Encoder, EveryByteComesBack) {
  const Tokenizer t = small();
  std::string all;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) all += {static_cast<char>(a), static_cast<char>(b), ' '};
  }
  EXPECT_EQ(decode(t, encoded(t, all)), all);
  EXPECT_EQ(encoded(t, ""), Ids{});
}

TEST(Encoder, RememberedPiecesDoNotMixUp) {
  const Tokenizer t = small();
  Encoder encoder(t);
  const std::string nul1(1, '\0'), nul2(2, '\0');
  for (int round = 0; round < 2; ++round) {
    for (const std::string& piece : {nul1, nul2, std::string("the"), std::string("the") + nul1}) {
      Ids ids;
      encoder.encode(piece, ids);
      EXPECT_EQ(decode(t, ids), piece);
    }
  }
}

TEST(Encoder, ThreadsShareATokenizer) {
  const Tokenizer t = load_tokenizer(corpus::golden_folder() + "llama3.json");
  const std::string text = corpus::mixed(3, 200'000, corpus::fragments().valid);
  std::vector<Ids> ids(4);
  {
    std::vector<std::jthread> threads;
    for (Ids& mine : ids) threads.emplace_back([&] { Encoder(t).encode(text, mine); });
  }
  for (const Ids& mine : ids) EXPECT_EQ(mine, ids[0]);
  EXPECT_EQ(decode(t, ids[0]), text);
}

TEST(Encoder, AVeryLongPieceIsNoTrouble) {
  const Tokenizer t = small();
  const std::string spaces(5'000'000, ' ');
  EXPECT_EQ(decode(t, encoded(t, spaces)).size(), spaces.size());
}

TEST(Tokenizer, AnswersWhatItIs) {
  const Tokenizer t = small();
  EXPECT_EQ(vocab_size(t), 301);
  EXPECT_EQ(end_of_text(t), 300);
  EXPECT_EQ(token_bytes(t, 300), "<|endoftext|>");
  EXPECT_EQ(token_bytes(t, t.byte_ids[0xff]), "\xff");
  EXPECT_EQ(end_of_text(load_tokenizer(corpus::golden_folder() + "gpt2.json")), std::nullopt);
}

TEST(Tokenizer, DecodingAnIdThatIsNoneIsRefused) {
  const Tokenizer t = small();
  const Ids ids = {5, 301};
  EXPECT_THAT([&] { decode(t, ids); }, testing::ThrowsMessage<UserError>(
                                           testing::HasSubstr("id 301 is outside the vocabulary of 301")));
}

}  // namespace
}  // namespace trireme
