// One anonymous mapping, 2 MiB aligned, on huge pages where the system gives them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace trireme {

class CpuArena {
 public:
  CpuArena() = default;
  // Every page is touched, by `threads` threads in contiguous parts, and zero. EnvError with the sizes when
  // it cannot be had.
  CpuArena(int64_t bytes, int threads);
  CpuArena(const CpuArena&) = delete;
  CpuArena& operator=(CpuArena&& other) noexcept;
  ~CpuArena();

  std::byte* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace trireme
