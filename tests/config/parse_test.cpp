// Every way to write a config wrongly says which key, where, and what to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

TEST(Parse, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(error_of(kBase + "[lr]\nwarmup_step = 2\n"),
            "a.toml:18: unknown key lr.warmup_step; did you mean lr.warmup_steps?");
  EXPECT_EQ(error_with({"batch.micr=1"}), "--set: unknown key batch.micr; did you mean batch.micro?");
  EXPECT_THAT(error_with({"optimizer.grad_acum=4"}),
              HasSubstr("unknown key optimizer.grad_acum; [optimizer] has kind, lr,"));
  EXPECT_THAT(error_with({"model.learing_rate=4"}), HasSubstr("unknown key model.learing_rate"));
}

TEST(Parse, UnknownSection) {
  EXPECT_EQ(error_of(kBase + "[optimzer]\nlr = 1.0\n"),
            "a.toml:17: unknown section optimzer; did you mean optimizer?");
  EXPECT_EQ(error_of(kBase + "[modle]\n"), "a.toml:17: unknown section modle; did you mean model?");
  EXPECT_THAT(error_of(kBase + "[xyzzy]\n"),
              HasSubstr("a.toml:17: unknown section xyzzy; sections are model, moe, data,"));
  EXPECT_THAT(error_with({"cluster.size=2"}),
              HasSubstr("--set: unknown section cluster; sections are model,"));
}

TEST(Parse, KeyInTheWrongSection) {
  EXPECT_EQ(error_with({"run.seq_len=8"}),
            "--set: unknown key run.seq_len; it belongs to another section: data.seq_len");
  EXPECT_EQ(error_with({"model.lr=8"}),
            "--set: unknown key model.lr; it belongs to another section: optimizer.lr");
  EXPECT_EQ(error_of("seq_len = 3\n" + kBase),
            "a.toml:1: unknown key seq_len; it belongs to another section: data.seq_len");
  EXPECT_EQ(error_of("every_steps = 3\n" + kBase),
            "a.toml:1: unknown key every_steps; it belongs to another section: checkpoint.every_steps or "
            "eval.every_steps");
}

TEST(Parse, SectionsTablesAndValuesDoNotMix) {
  EXPECT_EQ(
      error_of("model = 3\n"),
      "a.toml:1: model is a table; its keys are preset, hf, family, layers, width, heads, kv_heads, "
      "head_dim, "
      "ffn, vocab, context, norm_eps, tie_embeddings, activation, bias, qk_norm, mla.q_rank, mla.kv_rank, "
      "mla.nope_dim, mla.rope_dim, mla.v_dim, mla.score_scale, rope_theta, "
      "rope_scaling.kind, "
      "rope_scaling.factor, rope_scaling.low_freq_factor, rope_scaling.high_freq_factor, "
      "rope_scaling.original_context, rope_scaling.beta_fast, rope_scaling.beta_slow, "
      "rope_scaling.attention_factor, rope_layout, window, attn_softcap, logit_softcap, init_std, init_from, "
      "z_loss, "
      "mtp, mtp_weight");
  EXPECT_THAT(error_with({"model.rope_scaling=yarn"}),
              HasSubstr("model.rope_scaling is a table; its keys are kind, factor,"));
  EXPECT_EQ(error_of(kBase + "[run.seed]\n"), "a.toml:17: run.seed is not a table but a value");
  EXPECT_THAT(error_of(kBase + "[[lr]]\nkind = \"wsd\"\n"), HasSubstr("a.toml:17: lr is a table"));
}

TEST(Parse, WrongTypes) {
  EXPECT_EQ(error_with({"optimizer.lr=1e-4x"}),
            "--set: optimizer.lr = \"1e-4x\" is not a number; write it like 1e-3");
  EXPECT_EQ(error_with({"optimizer.lr=nan"}), "--set: optimizer.lr = nan is not a finite number");
  EXPECT_EQ(error_with({"optimizer.clip_norm=inf"}),
            "--set: optimizer.clip_norm = inf is not a finite number");
  EXPECT_EQ(error_with({"model.layers=2.0"}), "--set: model.layers = 2.0 is not a whole number; write 2");
  EXPECT_EQ(error_with({"model.layers=2.5"}), "--set: model.layers = 2.5 is not a whole number");
  EXPECT_EQ(error_with({"model.layers=true"}), "--set: model.layers = true is not a whole number");
  EXPECT_EQ(error_with({"model.bias=1"}), "--set: model.bias = 1 is not true or false");
  EXPECT_EQ(error_with({"model.bias=yes"}), "--set: model.bias = \"yes\" is not true or false");
  EXPECT_EQ(error_with({"lr.kind=cosin"}),
            "--set: lr.kind = \"cosin\" is not one of constant, linear, cosine, wsd; did you mean cosine?");
  EXPECT_EQ(error_with({"lr.kind=3"}), "--set: lr.kind = 3 is not one of constant, linear, cosine, wsd");
  EXPECT_EQ(error_of(kBase + "dir = 3\n"), "a.toml:17: run.dir = 3 is not a string; put it in quotes");
  EXPECT_EQ(error_of(kBase + "dir = 1979-05-27\n"),
            "a.toml:17: run.dir = 1979-05-27 is not a string; put it in quotes");
  EXPECT_EQ(error_of(kBase + "seed = [1]\n"), "a.toml:17: run.seed = [1] is not a whole number");
  EXPECT_EQ(error_of(kBase + "dir = \"a\\u0000b\"\n"),
            "a.toml:17: run.dir = \"a\\u0000b\" is not text without zero bytes");
}

TEST(Parse, Lists) {
  EXPECT_EQ(
      error_of(kBase + "[data.x]\n"),
      "a.toml:17: unknown key data.x; [data] has train, val, seq_len, packing, tokenizer, seed, log_samples");
  EXPECT_EQ(error_of("data.val = 3\n"), "a.toml:1: data.val = 3 is not a string; put it in quotes");
  EXPECT_EQ(error_with({"data.train=[1]"}), "--set: data.train = [1] is not a list of strings");
  EXPECT_EQ(error_with({"data.train=[\"\"]"}),
            "--set: data.train = [\"\"] is not a list of paths: one of them is empty");
  EXPECT_THAT(error_with({"data.train=[\"a\", {path = \"b\"}]"}),
              HasSubstr("is not a list of paths or of {path, weight}: the two do not mix"));
  EXPECT_THAT(error_with({"data.train=[{weight = 1.0}]"}),
              HasSubstr("is not a list of {path, weight}: a path is missing"));
  EXPECT_THAT(error_with({"data.train=[{path = \"a\", wieght = 1.0}]"}),
              HasSubstr("is not a list of {path, weight}: unknown key wieght"));
  EXPECT_THAT(error_with({"data.train=[{path = \"a\", weight = \"x\"}]"}), HasSubstr("is not a number"));
}

TEST(Parse, TomlErrorsNameLineAndColumn) {
  EXPECT_THAT(error_of("[model]\nlayers = = 2\n"), HasSubstr("a.toml:2:10: not TOML: "));
  EXPECT_THAT(error_of("[model]\nlayers =\n"), HasSubstr("a.toml:2:"));
  EXPECT_THAT(error_of("[run]\nsteps = 1\nsteps = 2\n"), HasSubstr("a.toml:3:"));
  EXPECT_THAT(error_of("[run]\nsteps = 1\nsteps = 2\n"), HasSubstr("'steps'"));
  EXPECT_THAT(error_of("[run]\n[run]\n"), HasSubstr("a.toml:2:"));
  EXPECT_THAT(error_of("[run]\nname = \"\xff\"\n"), HasSubstr("not TOML"));
  const std::string outside = "not TOML: a non-ASCII character outside a string; put the value in quotes";
  EXPECT_EQ(error_of("[run]\nname = \xc3\xbf\n"), "a.toml:2: " + outside);
  EXPECT_EQ(error_of("a = \"\"\"\"x\"\"\"\"\"\n\xc3\xbf = '''\n'''\n"), "a.toml:2: " + outside);
  EXPECT_EQ(error_of("a = \"\\\"\xc3\xbf\" # \xc3\xbf\nb = 'x\\'\xc3\xbf"), "a.toml:2: " + outside);
  EXPECT_EQ(error_of("a = '\xc3\xbf'"),
            "a.toml:1: not TOML: a non-ASCII character in a '...' string; write it in \"...\"");
  for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xe0\x80\x80", "\x80"})
    EXPECT_EQ(error_of(std::string("a = \"") + bad + "\""), "a.toml:1: not TOML: bytes that are not UTF-8");
  EXPECT_THAT(error_of("a = \"\\\xc3\xbf\""),
              HasSubstr("a backslash before something that it does not escape"));
  EXPECT_EQ(with({"run.name=\xf0\x9f\x98\x80\xe2\x82\xac"}).run.name, "\xf0\x9f\x98\x80\xe2\x82\xac");
  EXPECT_EQ(error_of("\xef\xbb\xbf[run]\n# \xc3\xbf\nname = 7\n"),
            "a.toml:3: run.name = 7 is not a string; put it in quotes");
}

TEST(Parse, TableHeadersWithoutAName) {
  for (const char* header : {"[,]", "[\x0e]", " [ = 3", "[[\t.]]", "[[[a]]]"})
    EXPECT_EQ(error_of(std::string("a = 1\n") + header),
              "a.toml:2: not TOML: a table's [ that no name follows")
        << header;
  EXPECT_THAT(error_of("[]"), HasSubstr("not TOML"));
  EXPECT_THAT(error_of("["), HasSubstr("not TOML"));
  EXPECT_THAT(error_of("[ [a]]"), HasSubstr("not TOML"));
}

TEST(Parse, OverridesThatAreNone) {
  EXPECT_EQ(error_with({"optimizer.lr"}),
            "--set optimizer.lr is not section.key=value; write it like --set optimizer.lr=1e-3");
  EXPECT_EQ(error_with({"=3"}), "--set =3 is not section.key=value; write it like --set optimizer.lr=1e-3");
  EXPECT_EQ(error_with({"a b.c=3"}),
            "--set a b.c=3 is not section.key=value; write it like --set optimizer.lr=1e-3");
  EXPECT_EQ(error_with({"optimizer.lr="}),
            "--set optimizer.lr= has no value; write it like --set optimizer.lr=1e-3");
  EXPECT_THAT(error_with({"optimizer..lr=3"}), HasSubstr("neither TOML nor a word"));
  EXPECT_THAT(error_with({"data.train=[1,"}), HasSubstr("--set data.train=[1,: the value is not TOML"));
  EXPECT_THAT(error_with({"run.name=\"a"}), HasSubstr("the value is not TOML"));
  EXPECT_EQ(error_with({"run.name=\xff"}), "--set:1: not TOML: bytes that are not UTF-8");
  EXPECT_THAT(error_with({"model.layers=2.famir=\"\xc4\x95"}), HasSubstr("is not a whole number"));
}

TEST(Parse, OverridesReplaceAndTheLastWins) {
  EXPECT_EQ(with({"optimizer.lr=2", "optimizer.lr=5e-4"}).optimizer.lr, 5e-4);
  EXPECT_EQ(with({"run.name=bare-word"}).run.name, "bare-word");
  EXPECT_EQ(with({"run.name=\"quoted\""}).run.name, "quoted");
  EXPECT_EQ(with({"run.name=7"}).run.name, "7");
  EXPECT_EQ(with({"run.name=1e-3"}).run.name, "1e-3");
  EXPECT_EQ(with({"run.name = spaced out "}).run.name, "spaced out");
  EXPECT_EQ(with({"run.name=\xc3\xbf"}).run.name, "\xc3\xbf");
  EXPECT_EQ(with({"run.dir=a=b"}).run.dir, "a=b");
  EXPECT_EQ(with({"data.val=x/*.bin"}).data.val, std::vector<std::string>{"x/*.bin"});
  EXPECT_EQ(with({"data.val=[\"x\", \"y\"]"}).data.val, (std::vector<std::string>{"x", "y"}));
  const RunSpec yarn = with({"model.family=llama", "model.rope_scaling={kind = \"yarn\", factor = 2}",
                             "model.rope_scaling.factor=4"});
  EXPECT_EQ(yarn.model.rope_scaling.kind, RopeScalingKind::yarn);
  EXPECT_EQ(yarn.model.rope_scaling.factor, 4.0);
}

TEST(Parse, OverridesMayStandForTheWholeFile) {
  EXPECT_EQ(parse_config("", "empty.toml",
                         {"model.preset=gpt2-124m", "data.train=a.bin", "batch.sequences=1", "optimizer.lr=1",
                          "run.name=x", "run.steps=1"})
                .model.layers,
            12);
}

TEST(Parse, HostileSizesAreRefused) {
  EXPECT_THAT(error_of(std::string(2 << 20, '#')), HasSubstr("bytes are too many for a config"));
  std::string deep = "a";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  EXPECT_THAT(error_of(deep + " = 1\n"), HasSubstr("dots outside strings are too many"));
  deep.resize(2 * 1000 + 1);
  EXPECT_THAT(error_of(deep + " = 1\n"), HasSubstr("unknown"));
  EXPECT_THAT(error_of("a = " + std::string(100000, '[')), HasSubstr("not TOML"));
}

}  // namespace
}  // namespace trireme::test
