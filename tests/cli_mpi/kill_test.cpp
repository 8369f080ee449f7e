// SIGKILL of one of two processes at random moments, many of them inside a save: the others end, and the run
// goes on from its newest whole checkpoint, under this layout or another, to the bits of the run that nothing
// happened to. TRIREME_KILLS (4) and TRIREME_KILL_SEED (1) choose how often and when.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/random.h"
#include "cli_mpi/mpi_run.h"

namespace trireme {
namespace {

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// A run's layout, and its processes.
struct Way {
  int processes;
  Settings settings;
  Arguments more;
};

const std::vector<Way> kWays = {
    {2, {{"parallel.dp_shard", "2"}, {"parallel.zero", "1"}}, {}},
    {2, {{"parallel.pp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "2"}}, {}},
    {2, {{"parallel.dp_replicate", "4"}}, {}},
    {2, {{"parallel.dp_shard", "4"}, {"parallel.zero", "3"}, {"checkpoint.async", "false"}}, {}}};

TEST(KillOne, AtRandomMomentsChangesNoBit) {
  const int64_t kills = number_from("TRIREME_KILLS", 4);
  const RandomStream random(static_cast<uint64_t>(number_from("TRIREME_KILL_SEED", 1)), "test/kill one");
  const TinyRun tiny;
  const auto settings = [](const std::string& name, const Settings& layout) {
    Settings all = with(layout);
    all["run.name"] = name;
    all["run.steps"] = all["lr.decay_steps"] = "120";
    all["checkpoint.every_steps"] = "2";
    all["eval.every_steps"] = "0";
    return all;
  };
  ASSERT_EQ(tiny.train(settings("whole", {})).exit_code, 0);
  const std::string whole = tiny.fingerprint("whole");
  int64_t killed = 0, begun = 0, runs = 0;
  while (killed < kills) {
    const std::string name = "killed-" + std::to_string(runs++);
    for (bool done = false; !done; ++begun) {
      const Way& way = kWays[static_cast<size_t>(begun) % kWays.size()];
      Process run(mpirun(tiny, way.processes, settings(name, way.settings), way.more), tiny.path(), "mpirun");
      const uint64_t draw = static_cast<uint64_t>(2 * begun);
      bool sent = false;
      if (killed < kills) {
        // Most of the time goes to starting; what is left is mostly saving.
        std::this_thread::sleep_for(std::chrono::milliseconds(300 + random.bits(draw) % 1200));
        const std::vector<pid_t> processes = run.children();
        sent = run.running() && !processes.empty() &&
               kill(processes[random.bits(draw + 1) % processes.size()], SIGKILL) == 0;
      }
      const Outcome outcome = run.wait(60);
      done = outcome.exit_code == 0;
      if (done) continue;
      ASSERT_TRUE(sent) << outcome.err;
      ++killed;
      ASSERT_EQ(outcome.err.find("is damaged"), std::string::npos) << outcome.err;
      for (const std::string& checkpoint : tiny.checkpoints(name)) {
        const std::string marker = tiny.run_folder(name) + "/checkpoints/" + checkpoint + "/COMMITTED";
        if (!checkpoint.starts_with("step-") || test::slurp(marker).empty()) continue;
        ASSERT_EQ(tiny.run({"ckpt", "verify", "runs/" + name + "/checkpoints/" + checkpoint}).exit_code, 0);
      }
    }
    ASSERT_EQ(tiny.fingerprint(name), whole);
    ASSERT_EQ(tiny.checkpoints(name), tiny.checkpoints("whole"));
  }
  std::printf("%lld kills over %lld starts of %lld runs\n", static_cast<long long>(killed),
              static_cast<long long>(begun), static_cast<long long>(runs));
}

}  // namespace
}  // namespace trireme
