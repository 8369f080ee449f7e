// What ranks of one process know about a failed rank. The first report counts; every waiting call looks here.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/ending.h"
#include "base/exit_code.h"

namespace trireme {

struct FailureReport {
  std::vector<int> ranks;  // of the world
  std::string message;     // reads on after "rank 3: "
  int exit_code = kEnvironment;
  FailureSaid said = FailureSaid::not_yet;
  int waiter = -1;  // the rank of this process that gave them up, if one did
};

class Failure {
 public:
  // `listen` is called while ranks wait, by several threads: where reports of other processes come in.
  explicit Failure(std::function<void()> listen = {}) : listen_(std::move(listen)) {}

  void report(FailureReport report);
  bool happened() const { return happened_.load(); }
  FailureReport first() const;  // empty ranks: none
  void listen() const {
    if (listen_) listen_();
  }

 private:
  std::function<void()> listen_;
  std::atomic<bool> happened_ = false;
  mutable std::mutex mutex_;
  FailureReport first_;
};

}  // namespace trireme
