// SIGTERM and SIGINT as a question the loop asks between steps. The first one asks the run to save and stop;
// a second one ends the process at once, which harms nothing since files are only ever replaced whole.
// SIGPIPE is ignored meanwhile: a terminal or pipe that went away must not end a run.
#pragma once
#include <atomic>
#include <thread>

namespace trireme {

class StopSignals {
 public:
  // Blocks both signals in this thread and those it starts later: make it before any other thread. Restored
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
