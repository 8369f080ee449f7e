// Ids and trained vocabularies equal those of tiktoken and Hugging Face's tokenizers
// (tests/golden/tokenizer/make.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "io/tokenizer/corpus.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

Tokenizer golden_tokenizer(const std::string& pattern) {
  const bool json = pattern == "gpt2" || pattern == "llama3";
  return load_tokenizer(corpus::golden_folder() + pattern + (json ? ".json" : ".tiktoken"));
}

uint64_t fnv(const std::vector<uint32_t>& ids) {
  uint64_t value = 0xcbf29ce484222325u;
  for (const uint32_t id : ids) {
    for (int shift = 0; shift < 32; shift += 8) value = (value ^ (id >> shift & 0xff)) * 0x100000001b3u;
  }
  return value;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IdsAreThoseOfTiktokenAndEveryByteComesBack) {
  const Tokenizer tokenizer = golden_tokenizer(GetParam());
  const auto sets = corpus::documents();
  std::ifstream file(corpus::golden_folder() + "ids.txt");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string pattern, set, hash;
    size_t count;
    in >> pattern >> set >> count >> hash;
    if (pattern != GetParam()) continue;
    Encoder encoder(tokenizer);
    std::vector<uint32_t> ids;
    for (const std::string& document : sets.at(set)) {
      const size_t before = ids.size();
      encoder.encode(document, ids);
      EXPECT_TRUE(decode(tokenizer, std::span(ids).subspan(before)) == document) << set;
    }
    size_t at = 0;
    for (uint32_t id; in >> id; ++at) EXPECT_EQ(ids.at(at), id) << set << " at " << at;
    EXPECT_EQ(ids.size(), count) << set;
    EXPECT_EQ(fnv(ids), std::stoull(hash, nullptr, 16)) << set;
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

// The golden vocabulary is what Hugging Face's trainer made of this text.
TEST_P(Golden, TrainingGivesTheSameVocabularyForAnyNumberOfThreads) {
  const Tokenizer expected = golden_tokenizer(GetParam());
  const std::string path =
      testing::TempDir() + "trireme_train_" + std::to_string(getpid()) + GetParam() + ".txt";
  std::ofstream(path, std::ios::binary) << corpus::mixed(1, 400'000, corpus::fragments().valid);
  for (const int threads : {1, 3}) {
    TrainOptions options;
    options.vocab_size = static_cast<int64_t>(expected.tokens.size());
    options.pattern = GetParam();
    options.specials = {};
    options.threads = threads;
    const std::string files[] = {path};
    const Tokenizer trained = train_tokenizer(files, options);
    EXPECT_EQ(trained.tokens, expected.tokens);
  }
  std::remove(path.c_str());
}

INSTANTIATE_TEST_SUITE_P(Patterns, Golden, testing::Values("gpt2", "cl100k", "o200k", "llama3"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace trireme
