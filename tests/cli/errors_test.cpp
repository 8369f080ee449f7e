// Mistakes of the user and faults of the environment: the exit code, one line that names the thing, and
// nothing left behind.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

// n ids of a .u16 shard, all `id`.
std::string ids(int64_t n, uint32_t id = 65) {
  std::string bytes;
  for (int64_t i = 0; i < n; ++i) {
    bytes.push_back(static_cast<char>(id & 255));
    bytes.push_back(static_cast<char>(id >> 8));
  }
  return bytes;
}

void expect_one_line(const Outcome& outcome, int exit_code, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("trireme: ")) << outcome.err;
  for (const std::string& word : words)
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
}

struct Mistake {
  std::vector<std::string> set;  // section.key=value
  int exit_code;
  std::vector<std::string> words;  // of the message
};

TEST(Errors, OfConfigAndDataLeaveNothingBehind) {
  const TinyRun tiny;
  write_bytes(tiny / "empty.u16", "");
  write_bytes(tiny / "one.u16", ids(1));
  write_bytes(tiny / "T.u16", ids(64));
  write_bytes(tiny / "bad.json", "{\"model\": ");
  write_bytes(tiny / "cut.bin", std::string("\x88\xec\x34\x01", 4) + std::string(300, '\0'));
  write_bytes(tiny / "high.u16", ids(200, 300));
  const Mistake mistakes[] = {
      {{"optimizer.learing_rate=1"}, 2, {"learing_rate"}},
      {{"optimiser.lr=1"}, 2, {"optimiser", "optimizer"}},
      {{"run.step=10"}, 2, {"run.step", "run.steps"}},
      {{"run.steps=1e-4x"}, 2, {"run.steps"}},
      {{"run.steps="}, 2, {"run.steps"}},
      {{"batch.micro=-1"}, 2, {"batch.micro", "-1"}},
      {{"batch.micro=0"}, 2, {"batch.micro", "0"}},
      {{"batch.micro=3"}, 2, {"batch.sequences", "4", "3"}},
      {{"batch.micro=8"}, 2, {"batch.sequences", "4", "8"}},
      {{"lr.warmup_steps=13"}, 2, {"lr.warmup_steps", "13", "12"}},
      {{"optimizer.clip_norm=-1"}, 2, {"optimizer.clip_norm", "-1"}},
      {{"optimizer.clip_norm=inf"}, 2, {"optimizer.clip_norm"}},
      {{"data.train=[\"nothing*.bin\"]"}, 2, {"data.train", "nothing*.bin"}},
      {{"data.train=[\"missing.bin\"]"}, 2, {"data.train", "missing.bin"}},
      {{"data.val=[\"nothing*.bin\"]"}, 2, {"data.val", "nothing*.bin"}},
      {{"data.train=[\"empty.u16\"]"}, 2, {"data.train", "65", "0 tokens"}},
      {{"data.train=[\"one.u16\"]"}, 2, {"data.train", "65", "1 token"}},
      {{"data.train=[\"T.u16\"]"}, 2, {"data.train", "65", "64 tokens"}},
      {{"data.val=[\"T.u16\"]"}, 2, {"data.val", "65", "64 tokens"}},
      {{"data.train=[\"cut.bin\"]"}, 2, {"cut.bin"}},
      {{"data.val=[\"high.u16\"]"}, 2, {"data.val", "high.u16", "300", "257"}},
      {{"data.tokenizer=missing.json"}, 3, {"missing.json"}},
      {{"data.tokenizer=bad.json"}, 2, {"bad.json"}},
      {{"data.tokenizer=shards"}, 2, {"shards"}},
      {{"model.vocab=256"}, 2, {"model.vocab = 256", "257"}},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.set[0]);
    Arguments arguments = {"train", "config.toml"};
    for (const std::string& set : mistake.set) arguments.insert(arguments.end(), {"--set", set});
    expect_one_line(tiny.run(arguments), mistake.exit_code, mistake.words);
    EXPECT_FALSE(std::filesystem::exists(tiny / "runs"));
    std::filesystem::remove_all(tiny / "runs");
  }
}

TEST(Errors, OfPaths) {
  const TinyRun tiny;
  expect_one_line(tiny.run({"train", "missing.toml"}), 3, {"missing.toml", "No such file"});
  expect_one_line(tiny.run({"train", "shards"}), 2, {"shards is a folder"});
  expect_one_line(tiny.run({"train", std::string(5000, 'x')}), 3, {"File name too long"});
  expect_one_line(tiny.run({"eval", "missing"}), 2, {"missing"});
  expect_one_line(tiny.run({"eval", std::string(5000, 'x')}), 2, {"xxx"});
  expect_one_line(tiny.run({"eval", "config.toml"}), 2, {"runs/tiny"});
  expect_one_line(tiny.run({"generate", "shards", "--prompt", "a"}), 2, {"shards"});
  expect_one_line(tiny.run({"compile", "missing.toml"}), 3, {"missing.toml"});
  expect_one_line(tiny.run({"compile", "config.toml", "--rank", "1"}), 2, {"--rank 1"});
  EXPECT_FALSE(std::filesystem::exists(tiny / "runs"));
}

TEST(Errors, OfTheCommandLine) {
  const TinyRun tiny;
  expect_one_line(tiny.run({"trian"}), 2, {"trian", "did you mean train?"});
  expect_one_line(tiny.run({}), 2, {"subcommand"});
  expect_one_line(tiny.run({"train"}), 2, {"CONFIG"});
  expect_one_line(tiny.run({"train", "config.toml", "--grad-acum", "4"}), 2, {"--grad-acum"});
  expect_one_line(tiny.run({"train", "config.toml", "--set"}), 2, {"--set"});
  expect_one_line(tiny.run({"train", "config.toml", "--set", "steps"}), 2, {"steps"});
  expect_one_line(tiny.run({"generate", "runs/tiny", "--top-p", "2"}), 2, {"--top-p"});
  expect_one_line(tiny.run({"compile", "config.toml", "--print", "grahp"}), 2, {"grahp"});
  EXPECT_FALSE(std::filesystem::exists(tiny / "runs"));
}

// An id outside the vocabulary, far into the shard: met when its window comes up, before it is trained on.
TEST(Errors, AnIdOutsideTheVocabularyIsNotTrainedOn) {
  const TinyRun tiny;
  std::string shard = ids(3000);
  shard.replace(2 * 1234, 2, ids(1, 999));
  write_bytes(tiny / "shards/train.u16", shard);
  const Outcome outcome = tiny.train({{"run.steps", "100"}, {"checkpoint.every_steps", "1"}});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  for (const char* word : {"data.train", "shards/train.u16", "999", "token 1234", "model.vocab = 257"})
    EXPECT_NE(lines_of(outcome.err).back().find(word), std::string::npos) << word << " in " << outcome.err;
  // 46 windows in an epoch of 11.5 steps.
  EXPECT_LT(lines_of(test::slurp(tiny.run_folder("tiny") + "/metrics.jsonl")).size(), 12u);
}

class ResumeErrors : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(tiny_.train({{"model.layers", "1"}}).exit_code, 0); }

  Outcome resume(const std::string& from, Settings settings = {}) const {
    settings.insert({"model.layers", "1"});
    return tiny_.train(settings, {"--resume", from});
  }

  TinyRun tiny_;
};

TEST_F(ResumeErrors, AnotherModelIsRefused) {
  const std::string before = tiny_.fingerprint("tiny");
  const struct {
    const char *key, *value, *old;
  } changes[] = {{"model.layers", "2", "1"},
                 {"model.width", "128", "64"},
                 {"model.heads", "2", "4"},
                 {"model.vocab", "300", "257"},
                 {"model.tie_embeddings", "false", "true"},
                 {"model.context", "128", "64"},
                 {"model.activation", "relu2", "gelu_tanh"}};
  for (const auto& change : changes) {
    SCOPED_TRACE(change.key);
    Settings settings = {{"run.steps", "20"}, {"data.seq_len", "64"}, {"model.layers", "1"}};
    settings[change.key] = change.value;
    const Outcome outcome = tiny_.train(settings);
    expect_one_line(outcome, 2, {change.key, change.value, change.old});
    // The same from another run's name: nothing appears under it.
    settings["run.name"] = "other";
    expect_one_line(tiny_.train(settings, {"--resume", "runs/tiny"}), 2, {change.key});
    EXPECT_FALSE(std::filesystem::exists(tiny_.run_folder("other")));
  }
  EXPECT_EQ(tiny_.fingerprint("tiny"), before);
}

TEST_F(ResumeErrors, Never) {
  expect_one_line(resume("never"), 2, {"--resume never", "runs/tiny", "run.name"});
  EXPECT_EQ(resume("never", {{"run.name", "new"}}).exit_code, 0);
  EXPECT_EQ(tiny_.fingerprint("new"), tiny_.fingerprint("tiny"));
}

TEST_F(ResumeErrors, FromNoRun) {
  expect_one_line(resume("missing", {{"run.name", "new"}}), 2, {"missing"});
  expect_one_line(resume("shards", {{"run.name", "new"}}), 2, {"shards"});
  expect_one_line(resume("runs/tiny/checkpoints/step-00000005", {{"run.name", "new"}}), 2, {"step-00000005"});
  EXPECT_FALSE(std::filesystem::exists(tiny_.run_folder("new")));
}

TEST_F(ResumeErrors, FromAnEarlierCheckpointOfARun) {
  const std::string early = "runs/tiny/checkpoints/step-00000004";
  const std::string before = tiny_.fingerprint("tiny");
  // Under the run's own name a later start would take step 12 again.
  expect_one_line(resume(early), 2, {early, "step 12", "run.name"});
  EXPECT_EQ(tiny_.fingerprint("tiny"), before);
  // Under another name it goes on from there, and then by itself.
  const Outcome branched =
      resume(early, {{"run.name", "branch"}, {"run.steps", "9"}, {"lr.decay_steps", "12"}});
  ASSERT_EQ(branched.exit_code, 0) << branched.err;
  EXPECT_NE(branched.err.find("resumed from " + early), std::string::npos);
  expect_one_line(resume(early, {{"run.name", "branch"}}), 2, {"runs/branch", "--resume auto"});
  ASSERT_EQ(tiny_.train({{"run.name", "branch"}, {"model.layers", "1"}}).exit_code, 0);
  EXPECT_EQ(tiny_.checkpoints("branch").back(), "step-00000012");
  for (const char* metric : {"loss", "grad_norm", "lr", "tokens_seen"}) {
    auto whole = tiny_.metric("tiny", metric);
    for (int64_t step = 1; step <= 4; ++step) whole.erase(step);
    EXPECT_EQ(tiny_.metric("branch", metric), whole) << metric;
  }
  // With the later ones gone, the run itself goes on from step 4.
  std::filesystem::remove_all(tiny_.run_folder("tiny") + "/checkpoints/step-00000008");
  std::filesystem::remove_all(tiny_.run_folder("tiny") + "/checkpoints/step-00000012");
  ASSERT_EQ(resume(early).exit_code, 0);
  EXPECT_EQ(tiny_.metric("tiny", "loss").size(), 12u);
  EXPECT_EQ(tiny_.run({"ckpt", "verify", "runs/branch"}).exit_code, 0);
}

TEST_F(ResumeErrors, OtherSettingsThanTheModelsAreSaid) {
  const Outcome outcome = tiny_.train({{"model.layers", "1"}, {"run.steps", "14"}, {"optimizer.lr", "5e-4"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: optimizer.lr was 0.001 and is now 0.0005"), std::string::npos)
      << outcome.err;
}

TEST(Errors, ARunThatAnotherProcessTrains) {
  const TinyRun tiny;
  Process first(TinyRun::train_arguments({{"run.steps", "100000"}}), tiny.path());
  const std::string metrics = tiny.run_folder("tiny") + "/metrics.jsonl";
  while (first.running() && test::slurp(metrics).empty()) {
  }
  expect_one_line(tiny.train(), 3, {"runs/tiny", "another process", "run.name"});
  EXPECT_TRUE(first.running());
}

// A run may have a checkpoint's kind of name.
TEST(Errors, ARunNamedLikeACheckpoint) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.name", "step-00000001"}}).exit_code, 0);
  EXPECT_EQ(tiny.run({"eval", "runs/step-00000001"}).exit_code, 0);
  EXPECT_EQ(tiny.run({"eval", "runs/step-00000001/"}).exit_code, 0);
}

TEST(Help, OfEverySubcommandHasAnExample) {
  const test::ScratchFolder folder;
  const std::vector<Arguments> commands = {{},
                                           {"train"},
                                           {"tokenizer"},
                                           {"tokenizer", "train"},
                                           {"tokenizer", "encode"},
                                           {"tokenizer", "decode"},
                                           {"tokenizer", "info"},
                                           {"data"},
                                           {"data", "tokenize"},
                                           {"data", "inspect"},
                                           {"eval"},
                                           {"generate"},
                                           {"ckpt"},
                                           {"ckpt", "ls"},
                                           {"ckpt", "verify"},
                                           {"compile"},
                                           {"plan"},
                                           {"simulate"},
                                           {"compare-run"},
                                           {"calibrate"},
                                           {"fit"},
                                           {"flops"},
                                           {"mfu"},
                                           {"hours"},
                                           {"cost"},
                                           {"interval"},
                                           {"lr"},
                                           {"config"},
                                           {"config", "show"},
                                           {"config", "reference"}};
  for (Arguments command : commands) {
    command.push_back("--help");
    const Outcome outcome = run_trireme(command, folder.path());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("Example: trireme "), std::string::npos) << command[0] << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Version, SaysHowItWasBuilt) {
  const test::ScratchFolder folder;
  const Outcome outcome = run_trireme({"--version"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out.starts_with("trireme 0.")) << outcome.out;
  for (const char* word : {"built with", "devices: cpu (", "null"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace trireme
