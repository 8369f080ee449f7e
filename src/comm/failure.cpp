// Keeps the first report; those that follow are its consequences.
#include "comm/failure.h"

#include <utility>

namespace trireme {

void Failure::report(FailureReport report) {
  const std::lock_guard lock(mutex_);
  if (happened_) return;
  first_ = std::move(report);
  happened_ = true;
}

FailureReport Failure::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace trireme
