// Waiting on futexes, which work across threads and processes alike.
#include "comm/waiting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <thread>

#include "comm/communicator.h"

namespace trireme {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kSleepNs = 10'000'000;  // how late a failure elsewhere is noticed, at most

// Sleeps while the value is `seen`, a while at most. Not FUTEX_PRIVATE: the signal may be another process's
// too.
void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
                std::atomic<uint32_t>::is_always_lock_free);
  const timespec timeout{.tv_sec = 0, .tv_nsec = kSleepNs};
  syscall(SYS_futex, &value, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

std::string ranks_text(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace

void raise_signal(Signal& signal) {
  // Both sides are sequentially consistent: either the sleeper sees the new value, or we see the sleeper.
  signal.value.fetch_add(1);
  if (signal.sleepers.load() != 0)
    syscall(SYS_futex, &signal.value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool has_reached(const Signal& signal, uint32_t target) {
  return static_cast<int32_t>(signal.value.load() - target) >= 0;
}

std::chrono::microseconds spin_for(int ranks_on_host) {
  const bool own_cores = ranks_on_host <= static_cast<int>(std::thread::hardware_concurrency());
  return std::chrono::microseconds(own_cores ? 50 : 0);
}

Waiting::Waiting(const Patience& patience, std::string_view call, std::string_view what)
    : patience_(patience), call_(call), what_(what) {}

bool Waiting::reaches(Signal& signal, uint32_t target) const {
  if (has_reached(signal, target)) return true;
  const auto spin_end = Clock::now() + patience_.spin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (has_reached(signal, target)) return true;
      _mm_pause();
    }
  } while (Clock::now() < spin_end);
  while (may_go_on()) {
    signal.sleepers.fetch_add(1);
    const uint32_t seen = signal.value.load();
    if (static_cast<int32_t>(seen - target) < 0) sleep_while(signal.value, seen);
    signal.sleepers.fetch_sub(1);
    if (has_reached(signal, target)) return true;
  }
  return has_reached(signal, target);
}

bool Waiting::may_go_on() const {
  patience_.failure->listen();
  if (patience_.failure->happened()) {
    const FailureReport report = patience_.failure->first();
    if (report.waiter == patience_.me)  // in another call, on another thread
      throw PeerFailed(report.ranks, fmt::format("{} {}", ranks_text(report.ranks), report.message),
                       report.exit_code, report.said);
    throw PeerFailed(
        report.ranks,
        fmt::format("{} failed: {} (rank {} had waited {:.1f} s in {} of {})", ranks_text(report.ranks),
                    report.message, patience_.me, waited_s(), call_, what_),
        report.exit_code, report.said);
  }
  return waited_s() < patience_.timeout_s;
}

void Waiting::give_up(const std::vector<int>& missing) const {
  const std::string text = fmt::format(
      "did not come to {} of {} within {:.1f} s, for which rank {} waited; dead, stuck or slow: see the "
      "end of its log, or raise run.timeout_s",
      call_, what_, waited_s(), patience_.me);
  patience_.failure->report({.ranks = missing, .message = text, .waiter = patience_.me});
  throw PeerFailed(missing, fmt::format("{} {}", ranks_text(missing), text));
}

double Waiting::waited_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

}  // namespace trireme
