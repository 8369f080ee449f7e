// The canonical text reads back as itself; diff and hash see what changed; the goldens hold the text still.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

std::string read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kSource = TRIREME_SOURCE_DIR;

void expect_round_trip(const RunSpec& spec) {
  const std::string text = to_toml(spec);
  const RunSpec again = parse_config(text, "canonical", {});
  EXPECT_EQ(to_toml(again), text);
  EXPECT_TRUE(diff(spec, again).empty());
  EXPECT_EQ(math_hash(again), math_hash(spec));
}

TEST(Canonical, EveryShippedConfigLoadsAndReadsBack) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().string());
    expect_round_trip(load_config(entry.path().string()));
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Canonical, Goldens) {
  for (const char* name : {"tiny", "llama-small", "qwen3-0.6b"}) {
    const std::string text = to_toml(load_config(fmt::format("{}/configs/{}.toml", kSource, name)));
    EXPECT_EQ(text, read(fmt::format("{}/tests/golden/config/{}.resolved.toml", kSource, name))) << name;
  }
}

TEST(Canonical, EveryKindOfSettingReadsBack) {
  for (const char* scaling : {"{kind=\"none\"}", "{kind=\"linear\",factor=3}", "{kind=\"ntk\",factor=1.5}",
                              "{kind=\"yarn\",factor=7.3}", "{kind=\"llama3\",factor=8}"})
    expect_round_trip(with({"model.family=llama", std::string("model.rope_scaling=") + scaling}));
  for (const char* kind : {"constant", "linear", "cosine", "wsd"})
    expect_round_trip(with({std::string("lr.kind=") + kind, "lr.warmup_steps=3"}));
  expect_round_trip(with({"run.threads=3", "run.peak_flops=1e12", "data.tokenizer=t.json", "run.device=null",
                          "precision.compute=fp32"}));
  expect_round_trip(with({"data.train=[{path=[\"a\",\"b\"],weight=0.1},{path=\"c\",weight=3}]",
                          "run.name=\"q\\\"\\\\ \xc3\xa4\"", "optimizer.eps=1e-30"}));
  expect_round_trip(with({"data.train=[{path=\"a\",weight=0.3}]"}));
}

TEST(Canonical, DiffNamesKeysWithBothValues) {
  const RunSpec a = with({"lr.kind=wsd"}), b = with({"optimizer.lr=2e-3", "run.threads=2"});
  std::vector<std::string> lines;
  for (const Difference& d : diff(a, b))
    lines.push_back(fmt::format("{}:{}>{}:{}", d.key, d.before, d.after, d.effect == Effect::math));
  EXPECT_THAT(lines, testing::ElementsAre("optimizer.lr:0.001>0.002:true", "lr.kind:\"wsd\">\"cosine\":true",
                                          "lr.cooldown_steps:2>:true", "run.threads:>2:false"));
}

TEST(Canonical, HashSeesOnlyWhatChangesTheNumbers) {
  const uint64_t hash = math_hash(with({}));
  EXPECT_EQ(
      math_hash(with({"run.name=other", "run.threads=2", "checkpoint.keep=9", "data.log_samples=true"})),
      hash);
  EXPECT_NE(math_hash(with({"optimizer.lr=1.0000001e-3"})), hash);
  EXPECT_NE(math_hash(with({"run.seed=2"})), hash);
  EXPECT_NE(math_hash(with({"batch.micro=2"})), hash);
}

TEST(Canonical, ReferenceIsTheCommittedPage) {
  EXPECT_EQ(config_reference(), read(kSource + "/docs/config.md"))
      << "run: trireme config reference > docs/config.md";
}

TEST(Canonical, UnreadableFilesAreTheEnvironments) {
  EXPECT_THROW(load_config(kSource + "/configs/none.toml"), EnvError);
  EXPECT_THROW(load_config(kSource + "/configs"), UserError);
}

}  // namespace
}  // namespace trireme::test
