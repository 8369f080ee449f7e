// SIGTERM, SIGINT and SIGUSR1 as a question the loop asks between steps. (mpirun passes SIGUSR1 on and waits;
// on SIGTERM it kills its processes a second later.) The first one asks the run to save and stop; a second
// one ends the process at once, which harms nothing since files are only ever replaced whole. SIGPIPE is
// ignored meanwhile: a terminal or pipe that went away must not end a run.
#pragma once
#include <atomic>
#include <thread>

namespace trireme {

class StopSignals {
 public:
  // Blocks the signals in this thread and those it starts later: make it before any other thread. Restored
  // when destroyed.
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // The signal that came, or 0.
  int stop_requested() const { return signal_.load(); }

 private:
  void watch();

  std::atomic<int> signal_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace trireme
