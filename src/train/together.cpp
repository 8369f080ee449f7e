// Rounds of one small sum: how many are done.
#include "train/together.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/ending.h"
#include "base/exit_code.h"
#include "io/checkpoint/damaged.h"
#include "train/first_text.h"

namespace trireme {
namespace {

using Clock = std::chrono::steady_clock;

WorkFailure attempt(const std::function<void()>& work) {
  using enum WorkFailure::Kind;
  try {
    if (work) work();
    return {};
  } catch (const CheckpointDamaged& error) {
    return {damaged, error.what()};
  } catch (...) {
    const Ending ending = ending_of(std::current_exception());
    return {ending.exit_code == kUserMistake ? user : environment, ending.message};
  }
}

// Kind and text as one text, which is what ranks tell each other.
std::string packed(const WorkFailure& failure) {
  if (!failure) return "";
  return static_cast<char>('0' + static_cast<int>(failure.kind)) + failure.text;
}

WorkFailure unpacked(const std::string& text) {
  if (text.empty()) return {};
  return {static_cast<WorkFailure::Kind>(text[0] - '0'), text.substr(1)};
}

// Between rounds: short at first, so that a short work is not held up; then rarely, so that a long one is not
// disturbed.
std::chrono::microseconds pause_after(Clock::duration elapsed) {
  using namespace std::chrono_literals;
  return std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(elapsed / 16),
                    std::chrono::microseconds(500), std::chrono::microseconds(500ms));
}

}  // namespace

WorkFailure together(Communicator* ranks, const std::function<void()>& work, std::string_view what) {
  if (ranks == nullptr) return attempt(work);
  std::future<WorkFailure> result = std::async(std::launch::async, [&work] { return attempt(work); });
  const Clock::time_point start = Clock::now();
  double done = 0;
  while (done < ranks->size()) {
    done = result.wait_for(pause_after(Clock::now() - start)) == std::future_status::ready ? 1 : 0;
    ranks->all_reduce(&done, 1, DType::f64, what);
  }
  return unpacked(first_text(*ranks, packed(result.get()), what));
}

void rethrow(const WorkFailure& failure) {
  switch (failure.kind) {
    case WorkFailure::Kind::user:
      fail_user("{}", failure.text);
    case WorkFailure::Kind::damaged:
      fail_damaged("{}", failure.text);
    default:
      fail_env("{}", failure.text);
  }
}

}  // namespace trireme
