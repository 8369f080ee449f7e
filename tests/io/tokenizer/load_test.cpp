// Each file format is known by its content; what is malformed or not supported is refused by name; what is
// saved loads again and encodes alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/tokenizer/corpus.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

class LoadTest : public testing::Test {
 protected:
  LoadTest() : folder_(fs::path(testing::TempDir()) / fmt::format("trireme_tokenizer_{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~LoadTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void refused(const std::string& text, const std::string& part) const {
    const std::string file = write("bad", text);
    EXPECT_THAT([&] { load_tokenizer(file); }, ThrowsMessage<UserError>(HasSubstr(part)))
        << text.substr(0, 200);
  }

  static json golden_json() {
    return json::parse(corpus::read_file(corpus::golden_folder() + "llama3.json"));
  }

 private:
  fs::path folder_;
};

std::vector<uint32_t> encoded(const Tokenizer& t, std::string_view text) {
  std::vector<uint32_t> ids;
  Encoder(t).encode(text, ids);
  return ids;
}

TEST_F(LoadTest, WhatIsSavedLoadsAndEncodesAlike) {
  const std::string text = corpus::mixed(9, 100'000, corpus::fragments().valid);
  for (const char* name : {"gpt2.json", "llama3.json", "cl100k.tiktoken", "o200k.tiktoken", "gpt2_pair"}) {
    const Tokenizer before = load_tokenizer(corpus::golden_folder() + name);
    save_tokenizer(before, path("saved.json"));
    const Tokenizer after = load_tokenizer(path("saved.json"));
    EXPECT_EQ(after.tokens, before.tokens) << name;
    EXPECT_EQ(after.pattern.kind, before.pattern.kind) << name;
    EXPECT_EQ(after.ignore_merges, before.ignore_merges) << name;
    EXPECT_EQ(end_of_text(after), end_of_text(before)) << name;
    EXPECT_EQ(encoded(after, text), encoded(before, text)) << name;
  }
}

TEST_F(LoadTest, AVocabularyWithTheTokensModelAndVocabIsNoTokenizerJson) {
  json encoder = json::parse(corpus::read_file(corpus::golden_folder() + "gpt2_pair/encoder.json"));
  encoder["model"] = 301;
  encoder["vocab"] = 302;
  write("vocab.bpe", corpus::read_file(corpus::golden_folder() + "gpt2_pair/vocab.bpe"));
  EXPECT_EQ(vocab_size(load_tokenizer(write("encoder.json", encoder.dump()))), 303);
  EXPECT_EQ(vocab_size(load_tokenizer(path("vocab.bpe"))), 303);
}

TEST_F(LoadTest, SpecialTokensWithGapsKeepTheirIds) {
  Tokenizer t = load_tokenizer(corpus::golden_folder() + "gpt2_pair");
  t.tokens.resize(310);
  t.tokens.push_back("<|pad \"x\"|>");
  t.specials.push_back({310, "<|pad \"x\"|>"});
  index_tokenizer(t, "test");
  save_tokenizer(t, path("gaps.json"));
  const Tokenizer after = load_tokenizer(path("gaps.json"));
  EXPECT_EQ(after.tokens, t.tokens);
  ASSERT_EQ(after.specials.size(), 2u);
  EXPECT_EQ(after.specials[1].id, 310u);
  EXPECT_THROW(decode(after, std::vector<uint32_t>{305}), UserError);
}

TEST_F(LoadTest, MergesMayBePairsOrStrings) {
  json root = golden_json();
  const Tokenizer pairs = load_tokenizer(write("pairs.json", root.dump()));
  for (json& merge : root["model"]["merges"]) {
    if (merge.is_array()) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  const Tokenizer strings = load_tokenizer(write("strings.json", root.dump()));
  ASSERT_EQ(strings.merges.size(), pairs.merges.size());
  EXPECT_EQ(encoded(strings, "the rest of the bread"), encoded(pairs, "the rest of the bread"));
}

TEST_F(LoadTest, IgnoreMergesTakesAWholePieceThatIsAToken) {
  json root = golden_json();
  root["model"]["vocab"]["zzqzz"] = 1000;
  EXPECT_EQ(encoded(load_tokenizer(write("t.json", root.dump())), "zzqzz").size(), 5u);
  root["model"]["ignore_merges"] = true;
  EXPECT_EQ(encoded(load_tokenizer(write("t.json", root.dump())), "zzqzz"), std::vector<uint32_t>{1000});
}

TEST_F(LoadTest, AnExpressionOfItsOwnRunsInPcre2) {
  json root = golden_json();
  root["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "t|h|e";
  const Tokenizer t = load_tokenizer(write("t.json", root.dump()));
  EXPECT_EQ(t.pattern.kind, SplitKind::Regex);
  EXPECT_EQ(encoded(t, "the\xff").size(), 4u);
  root["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(";
  const Tokenizer bad = load_tokenizer(write("t.json", root.dump()));
  EXPECT_THROW(Encoder{bad}, UserError);
}

TEST_F(LoadTest, APrefixSpaceIsAddedWhereTheFileAsksForIt) {
  json root = json::parse(corpus::read_file(corpus::golden_folder() + "gpt2.json"));
  const auto plain = encoded(load_tokenizer(write("t.json", root.dump())), " the cat");
  root["pre_tokenizer"]["add_prefix_space"] = true;
  const Tokenizer t = load_tokenizer(write("t.json", root.dump()));
  EXPECT_EQ(encoded(t, "the cat"), plain);
  EXPECT_EQ(encoded(t, " the cat"), plain);
}

TEST_F(LoadTest, WhatIsNotSupportedIsRefusedByName) {
  const auto with = [](const char* pointer, const json& value) {
    json root = golden_json();
    root[json::json_pointer(pointer)] = value;
    return root.dump();
  };
  refused(with("/normalizer", {{"type", "NFC"}}), "normalizer NFC");
  refused(with("/model/type", "Unigram"), "model \"Unigram\"");
  refused(with("/model/byte_fallback", true), "byte_fallback");
  refused(with("/model/dropout", 0.1), "dropout");
  refused(with("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix");
  refused(with("/pre_tokenizer", {{"type", "Whitespace"}}), "pre_tokenizer");
  refused(with("/pre_tokenizer/pretokenizers/0/behavior", "Removed"), "Isolated");
  refused(with("/added_tokens", json::array({{{"id", 1000}, {"content", "<m>"}, {"lstrip", true}}})),
          "lstrip");
}

TEST_F(LoadTest, MalformedFilesAreRefused) {
  const std::string whole = golden_json().dump();
  refused("", "is empty");
  refused(whole.substr(0, whole.size() / 2), "not valid JSON");
  refused(R"({"model": {"vocab": 3, "merges": []}})", "model.vocab");
  refused(R"({"model": {"vocab": {"a": 0}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}})",
          "no token for the byte");
  refused("YQ== 0\nYg== x\n", ":2: not \"base64 rank\"");
  refused("YQ== 0\nYg== 0\n", "rank 0 stands there twice");
  refused("YQ== 4000000000\n", "too large");
  refused("#version: 0.2\na b\n", "must stand beside it");
  json root = golden_json();
  root["model"]["merges"].push_back("a zzz");
  refused(root.dump(), "needs the token zzz");
  root = golden_json();
  root["model"]["vocab"]["zzz"] = 3;
  refused(root.dump(), "id 3 is given to two tokens");
  root["model"]["vocab"]["zzz"] = 4'000'000'000u;
  refused(root.dump(), "too large");
  root["model"]["vocab"]["zzz"] = -1;
  refused(root.dump(), "whole number");
  EXPECT_THROW(load_tokenizer(path("missing.json")), EnvError);
}

TEST_F(LoadTest, ARankFileMaySayNothingOfItsPattern) {
  const std::string ranks = corpus::read_file(corpus::golden_folder() + "cl100k.tiktoken");
  const std::string file = write("ranks", ranks);
  EXPECT_THAT([&] { load_tokenizer(file); }, ThrowsMessage<UserError>(HasSubstr("--pattern")));
  LoadOptions options;
  options.pattern = "cl100k";
  options.specials = {"<|endoftext|>", "<|x|>"};
  const Tokenizer t = load_tokenizer(file, options);
  EXPECT_EQ(t.pattern.kind, SplitKind::Cl100k);
  EXPECT_EQ(end_of_text(t), 1000u);
  EXPECT_EQ(vocab_size(t), 1002);
}

TEST_F(LoadTest, SavingToWhereOneCannotSaysSo) {
  const Tokenizer t = load_tokenizer(corpus::golden_folder() + "gpt2_pair");
  EXPECT_THROW(save_tokenizer(t, path("no/such/folder.json")), EnvError);
}

}  // namespace
}  // namespace trireme
