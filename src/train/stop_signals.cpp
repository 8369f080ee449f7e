// A thread that waits for the signals with sigwait: no handler, no global.
#include "train/stop_signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace trireme {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGUSR1);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { watch(); });
}

void StopSignals::watch() {
  const sigset_t set = stop_set();
  bool interrupted = false;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (done_.load()) return;  // the destructor's own
    if (signal == SIGINT && std::exchange(interrupted, true)) _exit(128 + signal);
    if (requests_.load() == 0) first_.store(signal);
    requests_.fetch_add(1);
  }
}

StopSignals::~StopSignals() {
  done_.store(true);
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
  const sigset_t set = stop_set();
  if (requests_.load() == 0) pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace trireme
