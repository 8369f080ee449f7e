// A queue of a rank's communication: a thread that runs what is handed in, in that order, beside the rank's
// compute and its other queues.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace trireme {

class CommWorker {
 public:
  CommWorker();
  CommWorker(const CommWorker&) = delete;
  // Waits for the piece of work at hand; what was not begun is dropped.
  ~CommWorker();

  // Returns at once with the number of pieces of work handed in so far, this one included.
  int64_t submit(std::function<void()> work);
  // Returns when the first `count` of them are done. Rethrows what one of them threw, then and ever after.
  void wait(int64_t count);
  // Seconds that wait() has blocked so far.
  double waited_s() const { return waited_s_; }
  // Seconds that the work done so far has taken.
  double worked_s();

 private:
  void work_off();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  int64_t submitted_ = 0, done_ = 0;
  bool stop_ = false;
  std::exception_ptr failure_;
  double waited_s_ = 0, worked_s_ = 0;
  std::thread thread_;
};

}  // namespace trireme
