// A queue between two threads.
#include "comm/comm_worker.h"

#include <utility>

#include "base/clock.h"

namespace trireme {

CommWorker::CommWorker() : thread_([this] { work_off(); }) {}

CommWorker::~CommWorker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

int64_t CommWorker::submit(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
  return ++submitted_;
}

void CommWorker::wait(int64_t count) {
  std::unique_lock lock(mutex_);
  if (done_ < count && !failure_) {
    const double start_s = seconds_now();
    changed_.wait(lock, [&] { return done_ >= count || failure_; });
    waited_s_ += seconds_now() - start_s;
  }
  if (failure_) std::rethrow_exception(failure_);
}

double CommWorker::worked_s() {
  const std::lock_guard lock(mutex_);
  return worked_s_;
}

void CommWorker::work_off() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || (!queue_.empty() && !failure_); });
    if (stop_) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    const double start_s = seconds_now();
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    worked_s_ += seconds_now() - start_s;
    if (failure) failure_ = failure;
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace trireme
