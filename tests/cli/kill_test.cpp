// SIGKILL at random moments, then resumed: nothing is lost but the steps since the last checkpoint, and those
// come again to the last bit. TRIREME_KILLS (15) and TRIREME_KILL_SEED (1) choose how often and when.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/random.h"
#include "cli/tiny_run.h"

namespace trireme {
namespace {

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoll(text) : otherwise;
}

TEST(Kill, AtRandomMomentsChangesNoBit) {
  const int64_t kills = number_from("TRIREME_KILLS", 15);
  const RandomStream random(static_cast<uint64_t>(number_from("TRIREME_KILL_SEED", 1)), "test/kill");
  const TinyRun tiny;
  Settings settings = {
      {"run.steps", "40"}, {"checkpoint.every_steps", "2"}, {"eval.every_steps", "7"}, {"run.name", "whole"}};
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  const std::chrono::duration<double> whole_s = std::chrono::steady_clock::now() - start;
  const std::string whole = tiny.fingerprint("whole");

  int64_t killed = 0, run = 0;
  bool fresh = true;
  while (killed < kills || !fresh) {
    settings["run.name"] = "killed-" + std::to_string(run);
    Process process(TinyRun::train_arguments(settings), tiny.path());
    if (killed < kills) {
      std::this_thread::sleep_for(whole_s * 0.5 * random.uniform(static_cast<uint64_t>(killed)));
      if (process.running()) process.send(SIGKILL);
    }
    const Outcome done = process.wait();
    if (done.signal == SIGKILL) {  // else it was done before
      ++killed;
      fresh = false;
      continue;
    }
    ASSERT_EQ(done.exit_code, 0) << done.err;
    ASSERT_EQ(tiny.fingerprint(settings["run.name"]), whole) << "after kill " << killed;
    ASSERT_EQ(tiny.metric(settings["run.name"], "loss").size(), 40u);
    // Nothing of a killed save stays.
    ASSERT_EQ(tiny.checkpoints(settings["run.name"]), tiny.checkpoints("whole"));
    ++run;
    fresh = true;
  }
  std::printf("%lld kills over %lld runs of %.2f s\n", static_cast<long long>(killed),
              static_cast<long long>(run), whole_s.count());
}

// Killed behind the last save, while older checkpoints were being removed: the run is done, and is cleared
// up.
TEST(Kill, ADoneRunIsClearedUpToo) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train().exit_code, 0);
  const std::vector<std::string> whole = tiny.checkpoints("tiny");
  const std::string folder = tiny.run_folder("tiny") + "/checkpoints/";
  std::filesystem::copy(folder + whole.front(), folder + ".tmp-" + whole.front(),
                        std::filesystem::copy_options::recursive);
  ASSERT_NE(tiny.checkpoints("tiny"), whole);
  EXPECT_EQ(tiny.train().exit_code, 0);
  EXPECT_EQ(tiny.checkpoints("tiny"), whole);
  // One that the last save had yet to remove.
  EXPECT_EQ(tiny.train({{"checkpoint.keep", "2"}}).exit_code, 0);
  EXPECT_EQ(tiny.checkpoints("tiny"), (std::vector<std::string>{whole.end() - 2, whole.end()}));
}

struct Damage {
  const char* name;
  void (*inflict)(const std::string& checkpoint);
};

std::string data_file(const std::string& checkpoint) { return checkpoint + "/rank-00000.safetensors"; }

void flip(const std::string& path, size_t at) {
  std::string bytes = test::slurp(path);
  bytes[at % bytes.size()] = static_cast<char>(bytes[at % bytes.size()] ^ 1);
  write_bytes(path, bytes);
}

const Damage kDamages[] = {
    {"Truncated",
     [](const std::string& c) {
       std::filesystem::resize_file(data_file(c), std::filesystem::file_size(data_file(c)) - 1000);
     }},
    {"EmptyFile", [](const std::string& c) { std::filesystem::resize_file(data_file(c), 0); }},
    {"ByteOfDataFlipped", [](const std::string& c) { flip(data_file(c), 700000); }},
    {"ByteOfHeaderFlipped", [](const std::string& c) { flip(data_file(c), 100); }},
    {"ByteOfIndexFlipped", [](const std::string& c) { flip(c + "/index.json", 60); }},
    {"FolderEmpty",
     [](const std::string& c) {
       std::filesystem::remove_all(c);
       std::filesystem::create_directory(c);
     }},
    {"CommittedMissing", [](const std::string& c) { std::filesystem::remove(c + "/COMMITTED"); }},
    {"DataMissing", [](const std::string& c) { std::filesystem::remove(data_file(c)); }},
};

class DamageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    tiny_ = std::make_unique<TinyRun>();
    ASSERT_EQ(tiny_->train({{"run.name", "whole"}, {"run.steps", "15"}, {"lr.decay_steps", "15"}}).exit_code,
              0);
    ASSERT_EQ(tiny_->train({{"run.name", "before"}, {"lr.decay_steps", "15"}}).exit_code, 0);
  }
  static void TearDownTestSuite() { tiny_.reset(); }
  static std::unique_ptr<TinyRun> tiny_;  // one pair of runs serves all
};
std::unique_ptr<TinyRun> DamageTest::tiny_;

TEST_F(DamageTest, FallsBackAndSaysSo) {
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.name);
    const std::string run = damage.name;
    std::filesystem::copy(tiny_->run_folder("before"), tiny_->run_folder(run),
                          std::filesystem::copy_options::recursive);
    damage.inflict(tiny_->run_folder(run) + "/checkpoints/step-00000012");
    const Outcome outcome = tiny_->train({{"run.name", run}, {"run.steps", "15"}, {"lr.decay_steps", "15"}});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("warning: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("step-00000012"), std::string::npos);
    EXPECT_NE(outcome.err.find("resumed from runs/" + run + "/checkpoints/step-00000008"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(tiny_->fingerprint(run), tiny_->fingerprint("whole"));
  }
}

// To begin anew over a run whose every checkpoint is damaged would throw it away.
TEST_F(DamageTest, NoneLeftIsAnError) {
  const std::string run = "all-damaged";
  std::filesystem::copy(tiny_->run_folder("before"), tiny_->run_folder(run),
                        std::filesystem::copy_options::recursive);
  for (const std::string& name : tiny_->checkpoints(run))
    flip(data_file(tiny_->run_folder(run) + "/checkpoints/" + name), 700000);
  const std::string metrics = test::slurp(tiny_->run_folder(run) + "/metrics.jsonl");
  const Outcome outcome = tiny_->train({{"run.name", run}, {"run.steps", "15"}});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("none of the 3 checkpoints"), std::string::npos) << outcome.err;
  EXPECT_EQ(test::slurp(tiny_->run_folder(run) + "/metrics.jsonl"), metrics);
}

// A first save that was killed left no checkpoint at all: the run begins anew.
TEST_F(DamageTest, OnlyUnfinishedSavesBeginAnew) {
  const std::string run = "unfinished";
  std::filesystem::create_directories(tiny_->run_folder(run) + "/checkpoints/step-00000004");
  std::filesystem::create_directories(tiny_->run_folder(run) + "/checkpoints/.tmp-step-00000008");
  const Outcome outcome = tiny_->train({{"run.name", run}, {"run.steps", "15"}, {"lr.decay_steps", "15"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(tiny_->fingerprint(run), tiny_->fingerprint("whole"));
}

}  // namespace
}  // namespace trireme
