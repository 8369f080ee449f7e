// Kernels by signature, pointers straight through.
#include "device/cpu/cpu_device.h"

#include <omp.h>

#include <cstring>
#include <map>
#include <vector>

#include "base/error.h"
#include "device/cpu/arena.h"
#include "device/cpu/kernel.h"
#include "ops/sig_text.h"

namespace trireme {
namespace {

class CpuDevice final : public Device {
 public:
  // A team that OpenMP makes smaller than asked for would leave parts of products undone.
  explicit CpuDevice(const CpuDeviceOptions& options) : context_{options.threads, options.isa} {
    if (omp_get_thread_limit() < options.threads)
      fail_env(
          "OpenMP may start {} threads (OMP_THREAD_LIMIT), the run asks for {}: unset it, or set run.threads",
          omp_get_thread_limit(), options.threads);
    omp_set_dynamic(0);
  }

  std::string_view name() const override { return "cpu"; }

  std::byte* allocate_arena(int64_t bytes) override {
    arena_ = CpuArena(bytes, context_.threads);
    return arena_.data();
  }

  KernelId prepare(const OpSig& sig) override {
    const auto [it, fresh] =
        known_.try_emplace(sig_text(sig), KernelId(static_cast<int64_t>(kernels_.size())));
    if (!fresh) return it->second;
    const PrepareCpuKernel make = find_cpu_kernel(sig.kind);
    CHECK(make != nullptr, "the cpu device has no kernel for {}", sig.kind);
    kernels_.push_back(make(sig, context_));
    return it->second;
  }

  void run(KernelId kernel, const Operands& operands) override {
    kernels_[static_cast<size_t>(kernel.index)](operands);
  }

  void write(std::byte* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void read(void* to, const std::byte* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  bool host_addressable() const override { return true; }
  void synchronize() override {}

 private:
  CpuContext context_;
  CpuArena arena_;
  std::map<std::string, KernelId> known_;
  std::vector<CpuKernel> kernels_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const CpuDeviceOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace trireme
