// How a rank waits for others: it spins for a moment, then sleeps in the kernel, and every few milliseconds
// asks whether a rank has failed. Signals may lie in memory that processes share.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/failure.h"

namespace trireme {

// A counter that one rank raises and others wait for.
struct alignas(64) Signal {
  std::atomic<uint32_t> value = 0;
  std::atomic<uint32_t> sleepers = 0;
};

// Raises it by one and wakes who sleeps; what was written before is seen by those who see the new value.
void raise_signal(Signal& signal);
// Whether it got as far as `target`; counters may wrap.
bool has_reached(const Signal& signal, uint32_t target);

// What all calls of a communicator share.
struct Patience {
  Failure* failure = nullptr;
  double timeout_s = 0;
  std::chrono::microseconds spin{0};  // 0 where ranks share cores
  int me = 0;                         // rank in the world
};

// Spins where each rank has a core of its own.
std::chrono::microseconds spin_for(int ranks_on_host);

// One blocking call: made when it starts, asked until it ends. `call` is the kind ("all-gather"), `what` the
// work.
class Waiting {
 public:
  Waiting(const Patience& patience, std::string_view call, std::string_view what);

  // Blocks until the signal has reached `target`: true, or false when the time is over. PeerFailed when a
  // rank has failed.
  bool reaches(Signal& signal, uint32_t target) const;
  // For those who poll: throws PeerFailed when a rank has failed, else says whether there is time left.
  bool may_go_on() const;
  // Tells all ranks that these, of the world, did not come, and throws PeerFailed.
  [[noreturn]] void give_up(const std::vector<int>& missing) const;

 private:
  double waited_s() const;

  const Patience& patience_;
  std::string_view call_;
  std::string_view what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace trireme
