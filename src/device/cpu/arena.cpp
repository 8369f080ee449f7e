// mmap, madvise and first touch.
#include "device/cpu/arena.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "device/cpu/parallel.h"

namespace trireme {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Linux hands out more than it has and kills the process later: refuse before anything is touched.
void check_free_memory(int64_t bytes) {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return;
  const double total = static_cast<double>(info.totalram) * info.mem_unit;
  if (static_cast<double>(bytes) > total)
    fail_env(
        "the plan needs {:.2f} GB in one arena, this machine has {:.2f} GB of memory: lower batch.micro, "
        "data.seq_len or the model's size",
        static_cast<double>(bytes) / 1e9, total / 1e9);
}

}  // namespace

CpuArena::CpuArena(int64_t bytes, int threads) {
  check_free_memory(bytes);
  const size_t rounded =
      (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kHugePage - 1) / kHugePage * kHugePage;
  mapped_bytes_ = rounded + kHugePage;  // room to align
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw EnvError(with_errno(fmt::format("cannot map an arena of {} bytes", bytes)));
  }
  const auto address = (reinterpret_cast<uintptr_t>(mapping_) + kHugePage - 1) / kHugePage * kHugePage;
  data_ = reinterpret_cast<std::byte*>(address);
  madvise(data_, rounded, MADV_HUGEPAGE);  // advice: small pages do as well
  // Fresh pages are zero; writing one byte of each makes them resident, near the thread that will use them.
  constexpr int64_t kPage = 4096;
  const int64_t used = (std::max<int64_t>(bytes, 1) + kPage - 1) / kPage;
  parallel_for(threads, used, static_cast<int64_t>(kHugePage) / kPage, [&](int64_t begin, int64_t end) {
    for (int64_t page = begin; page < end; ++page) data_[page * kPage] = std::byte{0};
  });
}

CpuArena& CpuArena::operator=(CpuArena&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

CpuArena::~CpuArena() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

}  // namespace trireme
