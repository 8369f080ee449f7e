// The first reader of a window fetches it, others wait; the one used longest ago goes.
#include "io/store/read_ahead.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace trireme {

ReadAhead::ReadAhead(int64_t window_bytes, int windows)
    : window_bytes_(window_bytes), windows_(static_cast<size_t>(windows)) {
  CHECK(window_bytes >= 1 && windows >= 1, "{} windows of {}", windows, window_bytes);
}

void ReadAhead::read(const Object& object, int64_t offset, std::span<std::byte> into) {
  if (static_cast<int64_t>(into.size()) >= window_bytes_) {
    object.fetch(offset, into);
    return;
  }
  while (!into.empty()) {
    const int64_t number = offset / window_bytes_;
    const std::shared_future<Bytes> future = window(object, number);
    const Bytes& bytes = future.get();
    const auto begin = static_cast<size_t>(offset - number * window_bytes_);
    const size_t n = std::min(into.size(), bytes.size() - begin);
    std::memcpy(into.data(), bytes.data() + begin, n);
    into = into.subspan(n);
    offset += static_cast<int64_t>(n);
  }
}

std::shared_future<ReadAhead::Bytes> ReadAhead::window(const Object& object, int64_t number) {
  const std::pair key(object.id, number);
  std::promise<Bytes> promise;
  const std::shared_future<Bytes> mine = promise.get_future().share();
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    if (found != kept_.end()) {
      found->second.last_use = ++uses_;
      return found->second.bytes;
    }
    kept_[key] = {mine, ++uses_};
    evict();
  }
  const int64_t begin = number * window_bytes_;
  try {
    Bytes bytes(static_cast<size_t>(std::min(window_bytes_, object.bytes - begin)));
    object.fetch(begin, bytes);
    promise.set_value(std::move(bytes));
  } catch (...) {
    promise.set_exception(std::current_exception());
    const std::lock_guard lock(mutex_);
    kept_.erase(key);  // the next reader tries again
  }
  return mine;
}

void ReadAhead::evict() {
  while (kept_.size() > windows_) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.last_use < b.second.last_use;
    });
    kept_.erase(oldest);
  }
}

}  // namespace trireme
