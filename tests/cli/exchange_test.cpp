// `trireme ckpt export` and `import`: a run that went to another project's files and back is the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

using ::testing::HasSubstr;

std::string loss_line(const Outcome& outcome) {
  for (const std::string& line : lines_of(outcome.out))
    if (line.starts_with("loss")) return line;
  return "no loss: " + outcome.err;
}

TEST(Exchange, ARunThereAndBack) {
  const TinyRun run;
  ASSERT_EQ(run.train({{"data.tokenizer", "tokenizer.json"}}).exit_code, 0);
  const Outcome exported = run.run({"ckpt", "export", "runs/tiny", "--to", "hf", "out"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("in 1 file, with its tokenizer"));
  const std::vector<std::string> files = {"config.json",       "generation_config.json",
                                          "model.safetensors", "special_tokens_map.json",
                                          "tokenizer.json",    "tokenizer_config.json"};
  EXPECT_EQ(names_in(run / "out"), files);
  const Outcome imported = run.run({"ckpt", "import", "--from", "hf", "out", "--out", "runs/back"});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;

  const Outcome before = run.run({"eval", "runs/tiny", "--set", "precision.compute=fp32"});
  const Outcome after =
      run.run({"eval", "runs/back", "--set", "data.val=[\"shards/val.u16\"]", "--set", "data.seq_len=64",
               "--set", "batch.sequences=4", "--set", "batch.micro=2", "--set", "eval.sequences=5"});
  EXPECT_EQ(loss_line(after), loss_line(before));
  const Arguments text = {"--prompt", "ab", "--tokens", "8", "--temperature", "0"};
  const auto generated = [&](const std::string& name) {
    Arguments arguments = {"generate", name, "--set", "precision.compute=fp32"};
    arguments.insert(arguments.end(), text.begin(), text.end());
    const Outcome outcome = run.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(generated("runs/back"), generated("runs/tiny"));

  const Outcome llmc = run.run({"ckpt", "export", "runs/tiny", "--to", "llmc", "a.bin", "--version", "5"});
  EXPECT_EQ(llmc.exit_code, 0) << llmc.err;
  EXPECT_EQ(run.run({"ckpt", "import", "--from", "llmc", "a.bin", "--out", "runs/llmc"}).exit_code, 0);
  EXPECT_EQ(run.run({"ckpt", "verify", "runs/llmc"}).exit_code, 0);
}

// What torchtitan and FSDP2 saved begins a run as the Hugging Face folder of the same weights does.
TEST(Exchange, ARunThatBeginsWithTorchDcp) {
  const TinyRun run;
  std::string shard;
  for (int i = 0; i < 2000; ++i) shard += {static_cast<char>(i * i % 16), '\0'};
  write_bytes(run / "shards/small.u16", shard);
  write_bytes(run / "config.toml", R"([model]
family = "llama"
layers = 1
width = 8
heads = 2
kv_heads = 1
ffn = 12
vocab = 16
context = 16
norm_eps = 1e-6
[data]
train = ["shards/small.u16"]
seq_len = 16
[batch]
sequences = 4
[optimizer]
lr = 1e-3
[run]
steps = 2
threads = 1
peak_flops = 1e12
)");
  const std::string folder = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch_dcp/model/";
  for (const std::string name : {"hf", "dcp_hf", "dcp_titan"}) {
    const Outcome outcome = run.train({{"run.name", name}, {"model.init_from", folder + name}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(run.metric(name, "loss").size(), 2u);
    EXPECT_EQ(run.fingerprint(name), run.fingerprint("hf")) << name;
    if (name == "dcp_titan") {
      EXPECT_THAT(outcome.err + outcome.out, HasSubstr("left out: 1 entries that are an optimizer's"));
    }
  }
  const Outcome goes_on =
      run.train({{"run.name", "hf"}, {"run.steps", "3"}, {"model.init_from", folder + "dcp_hf"}});
  EXPECT_EQ(goes_on.exit_code, 0) << goes_on.err;
  EXPECT_THAT(goes_on.err + goes_on.out,
              HasSubstr("dcp_hf is passed over: the run goes on with the weights of runs/hf/checkpoints/"));
  EXPECT_EQ(run.train({{"run.name", "drawn"}}).exit_code, 0);
  EXPECT_NE(run.fingerprint("drawn"), run.fingerprint("hf"));
}

TEST(Exchange, WhatIsRefused) {
  const TinyRun run;
  ASSERT_EQ(run.train({{"run.steps", "3"}}).exit_code, 0);
  const auto refused = [&](const Arguments& arguments, const std::string& message) {
    const Outcome outcome = run.run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  };
  refused({"ckpt", "export", "runs/tiny", "--to", "gguf", "out"}, "--to gguf is not known; hf and llmc are");
  refused({"ckpt", "import", "--from", "gguf", "out", "--out", "runs/a"},
          "--from gguf is not known; hf, llmc and torch-dcp are");
  refused({"ckpt", "export", "runs/none", "--to", "hf", "out"}, "there is no folder runs/none");
  refused({"ckpt", "import", "--from", "torch-dcp", "out", "--out", "runs/a"},
          "out does not say what its model is: give --config, a config with its [model]");
  refused({"ckpt", "import", "--from", "hf", "shards", "--out", "runs/a"}, "has neither model.safetensors");
  EXPECT_EQ(names_in(run / "runs"), std::vector<std::string>{"tiny"});
}

}  // namespace
}  // namespace trireme
