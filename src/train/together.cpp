// Rounds of one small sum: how many are done.
#include "train/together.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "train/first_text.h"

namespace trireme {
namespace {

using Clock = std::chrono::steady_clock;

// Why it failed; "" when it did not.
std::string attempt(const std::function<void()>& work) {
  try {
    if (work) work();
    return "";
  } catch (const std::exception& error) {
    return *error.what() != 0 ? error.what() : "an error without a text";
  }
}

// Between rounds: short at first, so that a short work is not held up; then rarely, so that a long one is not
// disturbed.
std::chrono::microseconds pause_after(Clock::duration elapsed) {
  using namespace std::chrono_literals;
  return std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(elapsed / 16),
                    std::chrono::microseconds(500), std::chrono::microseconds(500ms));
}

}  // namespace

std::string together(Communicator* ranks, const std::function<void()>& work, std::string_view what) {
  if (ranks == nullptr) return attempt(work);
  std::future<std::string> result = std::async(std::launch::async, [&work] { return attempt(work); });
  const Clock::time_point start = Clock::now();
  double done = 0;
  while (done < ranks->size()) {
    done = result.wait_for(pause_after(Clock::now() - start)) == std::future_status::ready ? 1 : 0;
    ranks->all_reduce(&done, 1, DType::f64, what);
  }
  return first_text(*ranks, result.get(), what);
}

}  // namespace trireme
