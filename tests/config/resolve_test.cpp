// Defaults, derived values, and every check that a config can fail.
#include "config/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;
using Overrides = std::vector<std::string>;

std::string error_with_llama(Overrides overrides) {
  overrides.insert(overrides.begin(), kLlama.begin(), kLlama.end());
  return error_with(overrides);
}

std::string without(const std::string& line) {
  std::string text = kBase;
  text.erase(text.find(line), line.size());
  return text;
}

TEST(Resolve, DerivesWhatIsAbsent) {
  const RunSpec s = with({});
  EXPECT_EQ(s.model.kv_heads, 4);
  EXPECT_EQ(s.model.head_dim, 16);
  EXPECT_EQ(s.model.ffn, 256);
  EXPECT_TRUE(s.model.tie_embeddings);
  EXPECT_TRUE(s.model.bias);
  EXPECT_EQ(s.model.activation, Activation::gelu_tanh);
  EXPECT_EQ(s.model.rope_theta, 0.0);
  EXPECT_EQ(s.data.seq_len, 64);
  EXPECT_EQ(s.data.seed, 1);
  EXPECT_EQ(s.data.train, (std::vector<DataSet>{{.paths = {"shards/train*.bin"}, .weight = 1.0}}));
  EXPECT_EQ(s.batch.micro, 1);
  EXPECT_EQ(micro_batches_per_step(s), 8);
  EXPECT_EQ(tokens_per_step(s), 512);
  EXPECT_EQ(s.lr.decay_steps, 10);
  EXPECT_EQ(s.eval.every_steps, 0);
  EXPECT_EQ(s.run.device, DeviceKind::cpu);
  EXPECT_FALSE(s.run.threads);
  EXPECT_FALSE(s.run.peak_flops);
  EXPECT_FALSE(s.data.tokenizer);
}

TEST(Resolve, LlamaDefaults) {
  const RunSpec s = with(kLlama);
  EXPECT_EQ(s.model.activation, Activation::swiglu);
  EXPECT_EQ(s.model.ffn, 192);  // 8/3 x 64 = 170.7, up to a multiple of 64
  EXPECT_FALSE(s.model.tie_embeddings);
  EXPECT_FALSE(s.model.bias);
  EXPECT_EQ(s.model.rope_theta, 10000.0);
  EXPECT_EQ(s.model.rope_scaling.kind, RopeScalingKind::none);
  EXPECT_EQ(s.model.rope_scaling.factor, 0.0);
  EXPECT_EQ(s.model.rope_scaling.low_freq_factor, 0.0);
  EXPECT_EQ(with({"model.family=llama", "model.activation=relu2"}).model.ffn, 256);
}

TEST(Resolve, ValidationTurnsOnWithItsData) {
  EXPECT_EQ(with({"data.val=v.bin"}).eval.every_steps, 250);
  EXPECT_THAT(error_with({"eval.every_steps=5"}),
              HasSubstr("eval.every_steps = 5 needs validation data; set data.val"));
}

TEST(Resolve, TokensAreSequences) {
  const std::string text = without("sequences = 8\n");
  EXPECT_EQ(parse_config(text, "a", {"batch.tokens=512"}).batch.sequences, 8);
  EXPECT_EQ(error_of(text, {"batch.tokens=500"}),
            "--set: batch.tokens = 500 is not a multiple of data.seq_len = 64; use 448 or 512");
  EXPECT_EQ(error_of(text, {"batch.tokens=5"}),
            "--set: batch.tokens = 5 is not a multiple of data.seq_len = 64; use 64");
  EXPECT_EQ(error_of(text, {"batch.tokens=512", "batch.micro=3"}),
            "a.toml: batch.sequences = 8 is not a multiple of batch.micro = 3 (batch.tokens = 512 over "
            "data.seq_len = 64); "
            "use 6 or 9 sequences, or a micro that divides 8");
  EXPECT_EQ(
      error_of(text),
      "a.toml: batch.sequences (or batch.tokens) is missing; write it like sequences = 8 under [batch]");
  EXPECT_EQ(error_with({"batch.tokens=512"}),
            "--set: batch.tokens = 512 and batch.sequences = 8 both give the batch; remove one of them");
}

TEST(Resolve, MicroDividesTheBatch) {
  EXPECT_EQ(error_with({"batch.micro=3"}),
            "a.toml:11: batch.sequences = 8 is not a multiple of batch.micro = 3; use 6 or 9 sequences, or a "
            "micro that divides 8");
  EXPECT_EQ(error_with({"batch.micro=16"}),
            "a.toml:11: batch.sequences = 8 is not a multiple of batch.micro = 16; use 16 sequences, or a "
            "micro that divides 8");
}

TEST(Resolve, MissingKeysSayHowToWriteThem) {
  const std::pair<const char*, const char*> lines[] = {
      {"family = \"gpt2\"\n",
       "a.toml: model.family is missing; write it like family = \"gpt2\" under [model], or start from preset "
       "or hf"},
      {"layers = 2\n",
       "a.toml: model.layers is missing; write it like layers = 12 under [model], or start from preset or "
       "hf"},
      {"width = 64\n",
       "a.toml: model.width is missing; write it like width = 768 under [model], or start from preset or hf"},
      {"heads = 4\n",
       "a.toml: model.heads is missing; write it like heads = 12 under [model], or start from preset or hf"},
      {"vocab = 257\n",
       "a.toml: model.vocab is missing; write it like vocab = 50257 under [model], or start from preset or "
       "hf"},
      {"context = 64\n",
       "a.toml: model.context is missing; write it like context = 1024 under [model], or start from preset "
       "or hf"},
      {"train = [\"shards/train*.bin\"]\n",
       "a.toml: data.train is missing; write it like train = [\"shards/train*.bin\"] under [data]"},
      {"lr = 1e-3\n", "a.toml: optimizer.lr is missing; write it like lr = 6e-4 under [optimizer]"},
      {"name = \"demo\"\n", "a.toml: run.name is missing; write it like name = \"demo\" under [run]"},
      {"steps = 10\n", "a.toml: run.steps is missing; write it like steps = 1000 under [run]"},
  };
  for (const auto& [line, message] : lines) EXPECT_EQ(error_of(without(line)), message);
}

TEST(Resolve, ShapesThatDoNotDivide) {
  EXPECT_EQ(error_with({"model.heads=5"}),
            "--set: model.heads = 5 does not divide model.width = 64; use one of 1, 2, 4, 8, 16, 32, 64, or "
            "set model.head_dim");
  EXPECT_EQ(error_with({"model.kv_heads=3"}),
            "--set: model.kv_heads = 3 does not divide model.heads = 4; use one of 1, 2, 4");
  EXPECT_EQ(error_with({"model.kv_heads=8"}),
            "--set: model.kv_heads = 8 does not divide model.heads = 4; use one of 1, 2, 4");
  EXPECT_EQ(error_with_llama({"model.head_dim=15"}),
            "--set: model.head_dim = 15 is odd, but rotary positions turn dims in pairs; use 14 or 16");
  EXPECT_EQ(with({"model.head_dim=15"}).model.head_dim, 15);  // learned positions do not mind
  EXPECT_EQ(error_with_llama({"model.heads=64", "model.width=64"}),
            "a.toml: model.head_dim = 1 is odd, but rotary positions turn dims in pairs; use 2");
  EXPECT_THAT(error_with({"model.heads=1000000", "model.head_dim=1000"}),
              HasSubstr("times model.heads = 1000000 is more than 16777216"));
  EXPECT_EQ(
      error_with({"data.seq_len=65"}),
      "--set: data.seq_len = 65 is longer than model.context = 64; use at most 64 or a larger model.context");
}

TEST(Resolve, Ranges) {
  EXPECT_EQ(error_with({"batch.sequences=-8"}), "--set: batch.sequences = -8 must be from 1 to 1000000000");
  EXPECT_EQ(error_with({"batch.micro=0"}), "--set: batch.micro = 0 must be from 1 to 1000000000");
  EXPECT_EQ(error_with({"model.layers=0"}), "--set: model.layers = 0 must be from 1 to 100000");
  EXPECT_EQ(error_with({"model.vocab=9223372036854775807"}),
            "--set: model.vocab = 9223372036854775807 must be from 1 to 2147483647");
  EXPECT_EQ(error_with({"optimizer.clip_norm=-1"}), "--set: optimizer.clip_norm = -1.0 must be at least 0");
  EXPECT_EQ(error_with({"optimizer.beta2=1"}), "--set: optimizer.beta2 = 1.0 must be from 0 to below 1");
  EXPECT_EQ(error_with({"optimizer.lr=-1e-3"}), "--set: optimizer.lr = -0.001 must be from 0 to 1000000");
  EXPECT_EQ(error_with({"optimizer.eps=0"}), "--set: optimizer.eps = 0.0 must be above 0 and at most 1");
  EXPECT_EQ(error_with({"model.window=-1"}), "--set: model.window = -1 must be from 0 to 2147483647");
  EXPECT_EQ(error_with({"run.steps=0"}), "--set: run.steps = 0 must be from 1 to 1000000000000");
  EXPECT_EQ(error_with({"run.threads=0"}), "--set: run.threads = 0 must be from 1 to 4096");
  EXPECT_EQ(error_with({"run.seed=-1"}), "--set: run.seed = -1 must be from 0 to 1000000000000000");
  EXPECT_EQ(error_with({"run.peak_flops=0"}),
            "--set: run.peak_flops = 0.0 must be above 0 and at most 1e+24");
  EXPECT_EQ(error_with({"lr.min_ratio=1.5"}), "--set: lr.min_ratio = 1.5 must be from 0 to 1");
  EXPECT_THAT(error_with({"data.train=[{path = \"a\", weight = -1}]"}), HasSubstr("must be at least 0"));
  EXPECT_THAT(error_with({"data.train=[{path = \"a\", weight = 0}]"}),
              HasSubstr("no set with a weight above 0"));
  EXPECT_EQ(with({"data.train=[{path=\"a\",weight=0},{path=\"b\"}]"}).data.train[0].weight, 0);
  EXPECT_THAT(error_with({"data.train=[]"}), HasSubstr("data.train = [] names no shards"));
  EXPECT_THAT(error_with({"data.train=[{path=\"a\",weight=1e308},{path=\"b\",weight=1e308}]"}),
              HasSubstr("whose sum is not finite"));
  EXPECT_THAT(error_with({"run.steps=1000000000000", "batch.sequences=1000000000"}),
              HasSubstr("more than 2^63 tokens"));
}

TEST(Resolve, GatesAreLlamas) {
  EXPECT_EQ(error_with({"model.activation=swiglu"}),
            "--set: model.activation = \"swiglu\" needs a gate, which model.family = \"gpt2\" does not have; "
            "use gelu_tanh, gelu or relu2");
}

TEST(Resolve, ClippingOff) { EXPECT_EQ(with({"optimizer.clip_norm=0"}).optimizer.clip_norm, 0.0); }

TEST(Resolve, RunNamesAreFolderNames) {
  for (const char* name : {"a/b", ".", "..", "\"\"", "\"a\\nb\""})
    EXPECT_THAT(error_with({std::string("run.name=") + name}), HasSubstr("must be a folder's name")) << name;
  EXPECT_THAT(error_with({"run.dir=\"\""}), HasSubstr("run.dir = \"\" is empty"));
  EXPECT_THAT(error_with({"data.tokenizer=\"\""}), HasSubstr("data.tokenizer = \"\" is empty"));
}

TEST(Resolve, WarmupFitsIntoTheDecay) {
  for (const char* kind : {"constant", "linear", "cosine", "wsd"}) {
    const std::string k = std::string("lr.kind=") + kind;
    EXPECT_EQ(with({k, "lr.warmup_steps=0"}).lr.warmup_steps, 0);
    const LrSpec all_warmup = with({k, "lr.warmup_steps=10"}).lr;
    EXPECT_EQ(all_warmup.warmup_steps, all_warmup.decay_steps);
    EXPECT_EQ(all_warmup.cooldown_steps, 0);
    EXPECT_EQ(with({k, "run.steps=1"}).lr.decay_steps, 1);
    EXPECT_THAT(error_with({k, "lr.warmup_steps=11"}),
                HasSubstr("so the peak would not be reached; use at most 10"));
  }
  EXPECT_EQ(error_with({"lr.warmup_steps=11"}),
            "--set: lr.warmup_steps = 11 is more than lr.decay_steps = 10 (run.steps), so the peak would not "
            "be reached; use at most 10");
  EXPECT_EQ(with({"lr.warmup_steps=11", "lr.decay_steps=100"}).lr.decay_steps, 100);
  EXPECT_EQ(error_with({"lr.decay_steps=0"}), "--set: lr.decay_steps = 0 must be from 1 to 1000000000000");
}

TEST(Resolve, Cooldown) {
  EXPECT_EQ(with({"lr.kind=wsd"}).lr.cooldown_steps, 2);
  EXPECT_EQ(with({"lr.kind=wsd", "run.steps=1"}).lr.cooldown_steps, 1);
  EXPECT_EQ(with({"lr.kind=wsd", "lr.warmup_steps=4", "lr.cooldown_steps=6"}).lr.cooldown_steps, 6);
  EXPECT_EQ(error_with({"lr.kind=wsd", "lr.warmup_steps=4", "lr.cooldown_steps=7"}),
            "--set: lr.cooldown_steps = 7 is more than the 6 steps that lr.warmup_steps = 4 leaves of "
            "lr.decay_steps = 10; use at most 6");
}

TEST(Resolve, KeysWithoutMeaningAreRefused) {
  EXPECT_EQ(error_with({"model.rope_theta=1e4"}),
            "--set: model.rope_theta = 10000.0 is only used with model.family = \"llama\" or \"deepseek\"; "
            "remove it");
  EXPECT_THAT(error_with({"model.qk_norm=true"}), HasSubstr("is only used with model.family"));
  EXPECT_THAT(error_with({"lr.cooldown_steps=1"}),
              HasSubstr("lr.cooldown_steps = 1 is only used with lr.kind = \"wsd\"; remove it"));
  EXPECT_THAT(error_with({"lr.kind=constant", "lr.min_ratio=0.5"}),
              HasSubstr("is only used with lr.kind = \"linear\", \"cosine\" or \"wsd\""));
  EXPECT_THAT(error_with_llama({"model.rope_scaling.factor=2"}),
              HasSubstr("model.rope_scaling.factor = 2.0 is only used with model.rope_scaling.kind"));
  EXPECT_THAT(error_with_llama({"model.rope_scaling={kind=\"linear\", factor=2, beta_fast=3}"}),
              HasSubstr("is only used with model.rope_scaling.kind = \"yarn\""));
}

TEST(Resolve, RopeScaling) {
  const auto scaled = [](const std::string& value) {
    return with({"model.family=llama", "model.rope_scaling=" + value}).model.rope_scaling;
  };
  EXPECT_EQ(scaled("{kind=\"yarn\", factor=4}").original_context, 16);
  EXPECT_DOUBLE_EQ(scaled("{kind=\"yarn\", factor=4}").attention_factor, 1.1386294361119891);
  EXPECT_EQ(scaled("{kind=\"yarn\", factor=4}").beta_fast, 32.0);
  EXPECT_EQ(scaled("{kind=\"llama3\", factor=4}").high_freq_factor, 4.0);
  EXPECT_EQ(scaled("{kind=\"ntk\", factor=4}").original_context, 0);
  EXPECT_THAT(error_with_llama({"model.rope_scaling.kind=ntk"}),
              HasSubstr("model.rope_scaling.factor is missing; write it like rope_scaling = {kind = \"ntk\", "
                        "factor = 4.0}"));
  EXPECT_THAT(error_with_llama({"model.rope_scaling={kind=\"ntk\", factor=0.5}"}),
              HasSubstr("must be from 1 to 1000000"));
  EXPECT_THAT(error_with_llama({"model.rope_scaling={kind=\"llama3\", factor=2, low_freq_factor=4}"}),
              HasSubstr("must be above low_freq_factor = 4"));
  EXPECT_THAT(error_with_llama({"model.rope_scaling={kind=\"yarn\", factor=2, beta_fast=1}"}),
              HasSubstr("must be above beta_slow = 1"));
  EXPECT_THAT(error_with_llama({"model.head_dim=2", "model.rope_scaling={kind=\"ntk\", factor=2}"}),
              HasSubstr("use at least 4"));
}

TEST(Resolve, PresetsAndWhatOverridesThem) {
  const std::string rest = kBase.substr(kBase.find("[data]"));
  const auto preset = [&](const std::string& name, Overrides more = {}) {
    more.push_back("model.preset=" + name);
    more.push_back("data.seq_len=64");
    return parse_config(rest, "a.toml", more).model;
  };
  EXPECT_EQ(preset("gpt2-1.5b").head_dim, 64);
  EXPECT_EQ(preset("gpt2-124m", {"model.width=96"}).ffn, 384);
  EXPECT_EQ(preset("gpt2-124m", {"model.vocab=50304"}).vocab, 50304);
  EXPECT_EQ(preset("qwen3-0.6b").head_dim, 128);
  EXPECT_TRUE(preset("qwen3-0.6b").qk_norm);
  EXPECT_EQ(preset("llama3-1b").rope_scaling.original_context, 8192);
  EXPECT_EQ(preset("llama3-1b", {"model.rope_scaling.factor=2"}).rope_scaling.factor, 2.0);
  EXPECT_EQ(preset("llama3-1b", {"model.rope_scaling.kind=none"}).rope_scaling.factor, 0.0);
  EXPECT_EQ(preset("llama3-1b", {"model.rope_scaling={kind=\"linear\", factor=3}"}).rope_scaling.factor, 3.0);
  EXPECT_THAT(
      error_of(rest, {"model.preset=gpt2-125m"}),
      HasSubstr(
          "model.preset = \"gpt2-125m\" is not a preset (did you mean gpt2-124m?); there are gpt2-124m,"));
  EXPECT_EQ(error_of(rest, {"model.preset=gpt2-124m", "model.family=llama"}),
            "--set: model.family = \"llama\" does not fit model.preset = \"gpt2-124m\", which is of family "
            "gpt2; remove it");
  EXPECT_EQ(error_of(rest, {"model.preset=gpt2-124m", "model.hf=x.json"}),
            "--set: model.preset = \"gpt2-124m\" and model.hf both give a shape; remove one of them");
}

TEST(Resolve, Mixtures) {
  const DataSpec d = with({"data.train=[{path = \"a\", weight = 0.7}, {path = [\"b\", \"c\"]}]"}).data;
  EXPECT_EQ(d.train,
            (std::vector<DataSet>{{.paths = {"a"}, .weight = 0.7}, {.paths = {"b", "c"}, .weight = 1.0}}));
  EXPECT_EQ(with({"data.train=[\"a\", \"b\"]"}).data.train,
            (std::vector<DataSet>{{.paths = {"a", "b"}, .weight = 1.0}}));
}

// --- parallel ---------------------------------------------------------------------------------------------

TEST(Parallel, DefaultsAreOneRankAndALanePerRank) {
  EXPECT_EQ(with({}).parallel.zero, 0);
  EXPECT_EQ(with({}).batch.lanes, 1);
  const RunSpec four = with({"parallel.dp_replicate=2", "parallel.dp_shard=2"});
  EXPECT_EQ(four.parallel.zero, 1);
  EXPECT_EQ(four.batch.lanes, 4);
  EXPECT_EQ(data_parallel_ranks(four), 4);
  EXPECT_EQ(micro_batches_per_step(four), micro_batches_per_step(with({})) / 4);
}

TEST(Parallel, LanesAreTheRanksTimesAPowerOfTwo) {
  EXPECT_EQ(with({"parallel.dp_shard=2", "batch.lanes=8"}).batch.lanes, 8);
  for (const char* lanes : {"batch.lanes=1", "batch.lanes=6", "batch.lanes=3"})
    EXPECT_NE(error_with({"parallel.dp_shard=2", lanes})
                  .find("must be 2 data-parallel ranks times a power of two; use 2"),
              std::string::npos)
        << error_with({"parallel.dp_shard=2", lanes});
  EXPECT_NE(error_with({"batch.lanes=16"}).find("does not divide the 8 micro-batches"), std::string::npos);
  EXPECT_NE(error_with({"parallel.dp_shard=3"}).find("cannot share evenly; use 6 or 9 sequences"),
            std::string::npos)
      << error_with({"parallel.dp_shard=3"});
}

// An evaluation is filled up so that every lane has as many micro-batches.
TEST(Parallel, EvaluationIsFilledUpByLanes) {
  const RunSpec spec = with({"batch.micro=2", "batch.lanes=4"});
  EXPECT_EQ(eval_micro_batches(spec, 1), 4);
  EXPECT_EQ(eval_micro_batches(spec, 8), 4);
  EXPECT_EQ(eval_micro_batches(spec, 9), 8);
  EXPECT_EQ(eval_micro_batches(with({"batch.micro=2"}), 9), 5);
}

}  // namespace
}  // namespace trireme::test
