// Memory as a kernel gets it from the arena: 64-byte aligned, and with guard bytes in front and behind, so
// that a write outside is noticed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace trireme {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t bytes);

  std::byte* data() { return memory_.get() + kGuardBytes; }
  const std::byte* data() const { return memory_.get() + kGuardBytes; }
  int64_t size() const { return bytes_; }
  bool intact() const;  // false once somebody wrote outside

 private:
  static constexpr int64_t kGuardBytes = 64;
  struct Free {
    void operator()(std::byte* memory) const;
  };
  int64_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace trireme
