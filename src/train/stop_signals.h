// SIGTERM, SIGINT and SIGUSR1 as a question the loop asks between steps. The first one asks the run to save
// and stop. More of them only ask again, since launchers and schedulers send SIGTERM to every process and
// more than once, and that must not lose the save. (mpirun passes SIGUSR1 on and waits; on SIGTERM it passes
// that on and kills its processes a second later.) But a second SIGINT, the Ctrl-C of somebody who will not
// wait, ends the process at once, which harms nothing since files are only ever replaced whole. SIGPIPE is
// ignored meanwhile: a terminal or pipe that went away must not end a run.
#pragma once
#include <atomic>
#include <thread>

namespace trireme {

class StopSignals {
 public:
  // Blocks the signals in this thread and those it starts later: make it before any other thread. Restored
  // when destroyed, unless one came: then the process is about to end with an exit code that says so, which
  // one more signal must not change.
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // The first signal that came, or 0.
  int stop_requested() const { return first_.load(); }
  // How many came. Of those that come in the same instant the system may make one.
  int requests() const { return requests_.load(); }

 private:
  void watch();

  std::atomic<int> first_{0};
  std::atomic<int> requests_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace trireme
