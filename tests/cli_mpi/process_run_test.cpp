// The real binary under mpirun: the run is that of rank threads, to the bit; and whatever happens to a
// process, all end, nothing is left behind, and the run goes on from its newest checkpoint.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/tiny_run.h"
#include "cli_mpi/mpi_run.h"

namespace trireme {
namespace {

using Clock = std::chrono::steady_clock;

// Steps without end, saved often.
Settings endless(const std::string& name) {
  return with({{"run.name", name},
               {"run.steps", "1000000"},
               {"lr.decay_steps", "1000000"},
               {"checkpoint.every_steps", "5"},
               {"eval.every_steps", "0"},
               {"data.log_samples", "false"}});
}

size_t lines_with(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (const std::string& line : lines_of(text)) found += line.find(part) != std::string::npos ? 1 : 0;
  return found;
}

bool is_alive(pid_t process) { return kill(process, 0) == 0; }

// Of the newest checkpoint that is whole; 0: there is none.
int64_t newest_step(const TinyRun& tiny, const std::string& name) {
  int64_t newest = 0;
  for (const std::string& checkpoint : tiny.checkpoints(name))
    if (checkpoint.starts_with("step-") &&
        std::filesystem::exists(tiny.run_folder(name) + "/checkpoints/" + checkpoint + "/COMMITTED"))
      newest = std::max<int64_t>(newest, std::stoll(checkpoint.substr(std::string("step-").size())));
  return newest;
}

// A run that has been started and has saved something.
class Started {
 public:
  Started(const TinyRun& tiny, int processes, const Settings& settings)
      : tiny_(tiny),
        before_(newest_step(tiny, settings.at("run.name"))),
        run_(mpirun(tiny, processes, settings), tiny.path(), "mpirun") {
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    const auto saved = [&] { return newest_step(tiny, settings.at("run.name")) > before_; };
    while (!saved() && run_.running() && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(saved());
    processes_ = run_.children();
    EXPECT_EQ(processes_.size(), static_cast<size_t>(processes));
  }

  void send(size_t process, int signal) const { kill(processes_.at(process), signal); }
  void send_launcher(int signal) const { run_.send(signal); }

  // Soon; no process lives on and nothing stays in shared memory.
  Outcome end() {
    const auto start = Clock::now();
    const Outcome outcome = run_.wait(60);
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(20)) << outcome.err;
    for (int i = 0; i < 40 && std::any_of(processes_.begin(), processes_.end(), is_alive); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(std::none_of(processes_.begin(), processes_.end(), is_alive)) << outcome.err;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tiny_ / "shared"))
      EXPECT_FALSE(entry.is_regular_file()) << entry.path();
    return outcome;
  }

 private:
  const TinyRun& tiny_;
  int64_t before_;
  Process run_;
  std::vector<pid_t> processes_;
};

// The run can be taken up at once, and is the run that nothing happened to.
void expect_goes_on(const TinyRun& tiny, const std::string& name) {
  const int64_t from = newest_step(tiny, name);
  Settings settings = endless(name);
  settings["run.steps"] = std::to_string(from + 3);
  const Outcome again = tiny.train(settings, {"--ranks", "2"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("resumed from"), std::string::npos) << again.err;
  settings["run.name"] = name + "-whole";
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  EXPECT_EQ(tiny.metric(name, "loss"), tiny.metric(name + "-whole", "loss"));
  EXPECT_EQ(tiny.metric(name, "grad_norm"), tiny.metric(name + "-whole", "grad_norm"));
}

TEST(ProcessRun, TrainsTheRunOfRankThreads) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({{"run.name", "threads"}}), {"--ranks", "4"}).exit_code, 0);
  const std::string expected = tiny.fingerprint("threads");
  struct Case {
    int processes;
    Settings settings;
    std::string ranks;
  };
  int n = 0;
  for (const Case& c :
       {Case{2, {}, "2"}, Case{2, {{"parallel.zero", "1"}}, "4"}, Case{4, {}, "4"},
        Case{4, {{"parallel.zero", "3"}}, "4"},
        Case{4, {{"parallel.dp_replicate", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "2"}}, ""},
        Case{2, {{"parallel.pp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "2"}}, ""},
        Case{4, {{"parallel.pp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "1"}}, ""},
        Case{2, {{"parallel.pp", "2"}, {"parallel.schedule", "dualpipev"}}, ""},
        Case{4, {{"parallel.pp", "4"}, {"parallel.schedule", "zb_h1"}}, ""}}) {
    Settings settings = with(c.settings);
    settings["run.name"] = "processes-" + std::to_string(n++);
    const Outcome outcome =
        train(tiny, c.processes, settings, c.ranks.empty() ? Arguments{} : Arguments{"--ranks", c.ranks});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(tiny.fingerprint(settings["run.name"]), expected) << c.processes << " processes, " << c.ranks;
    EXPECT_EQ(lines_with(outcome.err, "the run's files are in"), 1u) << "one process speaks\n" << outcome.err;
  }
}

TEST(ProcessRun, ARunMayMoveBetweenThreadsAndProcesses) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train(with({{"run.name", "whole"}})).exit_code, 0);
  Settings settings = with({{"run.name", "moved"}, {"run.steps", "3"}, {"parallel.zero", "3"}});
  ASSERT_EQ(train(tiny, 4, settings, {"--ranks", "4"}).exit_code, 0);
  settings["run.steps"] = "6";
  ASSERT_EQ(tiny.train(settings, {"--ranks", "2"}).exit_code, 0);
  settings["run.steps"] = "12";
  settings["parallel.zero"] = "0";
  ASSERT_EQ(train(tiny, 2, settings, {"--ranks", "4"}).exit_code, 0);
  EXPECT_EQ(tiny.fingerprint("moved"), tiny.fingerprint("whole"));
  EXPECT_EQ(train(tiny, 2, settings, {"--ranks", "4"}).exit_code, 0) << "nothing is left to do";
}

TEST(ProcessRun, AKilledProcessEndsTheOthers) {
  const TinyRun tiny;
  for (const int processes : {2, 4}) {
    Settings settings = endless("killed-" + std::to_string(processes));
    settings["parallel.dp_shard"] = std::to_string(processes);
    settings["parallel.zero"] = "3";
    Started run(tiny, processes, settings);
    run.send(1, SIGKILL);
    const Outcome outcome = run.end();
    EXPECT_NE(outcome.exit_code, 0);
    // mpirun notices before a wait is over, names the process and ends the others.
    EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
    expect_goes_on(tiny, settings["run.name"]);
  }
}

TEST(ProcessRun, AProcessThatStopsAnsweringIsNamed) {
  const TinyRun tiny;
  for (const size_t stopped : {0, 1}) {
    Settings settings = endless("stopped-" + std::to_string(stopped));
    settings["parallel.dp_replicate"] = "2";
    Started run(tiny, 2, settings);
    run.send(stopped, SIGSTOP);
    const Outcome outcome = run.end();
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(lines_with(outcome.err, "trireme: rank " + std::to_string(stopped) + " did not come to"), 1u)
        << outcome.err;
    EXPECT_NE(outcome.err.find("within 5.0 s, for which rank " + std::to_string(1 - stopped) + " waited"),
              std::string::npos)
        << outcome.err;
    expect_goes_on(tiny, settings["run.name"]);
  }
}

TEST(ProcessRun, ASignalSavesAndStops) {
  const TinyRun tiny;
  Settings settings = endless("signalled");
  settings["parallel.dp_replicate"] = "2";
  // mpirun passes SIGUSR1 on; a signal to any one process stops all.
  for (const bool all : {true, false}) {
    Started run(tiny, 2, settings);
    const int64_t before = newest_step(tiny, "signalled");
    if (all) run.send_launcher(SIGUSR1);
    for (int i = 0; i < 5 && !all; ++i) {  // more of them ask for the same
      run.send(1, SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Outcome outcome = run.end();
    EXPECT_EQ(outcome.exit_code, 75) << outcome.err;
    EXPECT_EQ(lines_with(outcome.err, "stopped by"), 1u) << outcome.err;
    EXPECT_GE(newest_step(tiny, "signalled"), before);
  }
  // mpirun has an exit code of its own when it is told to end.
  Started run(tiny, 2, settings);
  run.send_launcher(SIGTERM);
  const Outcome outcome = run.end();
  EXPECT_EQ(lines_with(outcome.err, "stopped by signal 15"), 1u) << outcome.err;
  expect_goes_on(tiny, "signalled");
}

TEST(ProcessRun, AMistakeIsSaidOnce) {
  const TinyRun tiny;
  const auto expect = [&](const Outcome& outcome, int exit_code, const std::string& message) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(lines_with(outcome.err, "trireme: "), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  };
  expect(train(tiny, 2, {{"batch.foo", "1"}}), 2, "unknown key batch.foo");
  expect(train(tiny, 3, with({}), {"--ranks", "4"}), 2,
         "the config has 4 ranks (parallel.pp = 1 x dp_replicate = 4 x dp_shard = 1 x cp = 1 x tp = 1), "
         "which 3 processes");
  expect(train(tiny, 2, with({})), 2, "which 2 processes do not divide: start 1 process, or set --ranks 2");
  expect(train(tiny, 2, with({{"parallel.pp", "3"}})), 2,
         "start 1, 3 or another divisor of 3, or set --ranks 6");
  expect(train(tiny, 2, with({{"data.train", "[\"nowhere.u16\"]"}}), {"--ranks", "2"}), 2, "nowhere.u16");
  EXPECT_TRUE(names_in(tiny / "runs").empty()) << "a mistake that shows before the run leaves nothing";
  // Only rank 0's process goes into the run's folder.
  Settings settings = endless("held");
  Process holder(TinyRun::train_arguments(settings), tiny.path());
  while (tiny.checkpoints("held").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  expect(train(tiny, 2, settings, {"--ranks", "2"}), 3, "another process is training in runs/held");
}

// An id beyond the vocabulary, in the rows of one rank.
TEST(ProcessRun, AMistakeThatOneProcessMeetsEndsAllWithItsExitCode) {
  const TinyRun tiny;
  std::string shard = test::slurp(tiny / "shards/train.u16");
  shard[shard.size() / 2 | 1] = 7;
  write_bytes(tiny / "shards/train.u16", shard);
  const Outcome outcome = train(tiny, 4, with({{"run.steps", "30"}}), {"--ranks", "4"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("model.vocab"), std::string::npos) << outcome.err;
  EXPECT_EQ(lines_with(outcome.err, "trireme: "), 1u) << outcome.err;
}

// The launcher's variables are there, MPI knows nothing of it.
TEST(ProcessRun, ALauncherThatMpiDoesNotKnowIsRefused) {
  const TinyRun tiny;
  Arguments arguments = {"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", TRIREME_BINARY};
  const Arguments train = TinyRun::train_arguments(with({}), {"--ranks", "2"});
  arguments.insert(arguments.end(), train.begin(), train.end());
  const Outcome outcome = Process(arguments, tiny.path(), "env").wait();
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("the launcher says process 1 of 2, MPI says 0 of 1"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace trireme
