// Windows of objects in memory, so that many small reads become few requests of a size that fills the line.
// Used where a request has a latency: object stores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace trireme {

class ReadAhead {
 public:
  struct Object {
    int64_t id = 0;  // no two objects have the same
    int64_t bytes = 0;
    // Reads a range of the object, from any thread.
    std::function<void(int64_t offset, std::span<std::byte> into)> fetch;
  };

  // At most so many windows are kept; one more per thread that reads right now.
  ReadAhead(int64_t window_bytes, int windows);

  // Of bytes that the object has. A read as large as a window goes straight into `into`.
  void read(const Object& object, int64_t offset, std::span<std::byte> into);

 private:
  using Bytes = std::vector<std::byte>;
  struct Window {
    std::shared_future<Bytes> bytes;  // shared by the readers that wait for it
    uint64_t last_use = 0;
  };
  std::shared_future<Bytes> window(const Object& object, int64_t number);
  void evict();

  int64_t window_bytes_;
  size_t windows_;
  std::mutex mutex_;
  uint64_t uses_ = 0;
  std::map<std::pair<int64_t, int64_t>, Window> kept_;  // by object and number
};

}  // namespace trireme
