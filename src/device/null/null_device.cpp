// Addresses without memory behind them.
#include "device/null/null_device.h"

#include <sys/mman.h>

#include <cstring>

#include "base/error.h"

namespace trireme {
namespace {

class NullDevice final : public Device {
 public:
  ~NullDevice() override {
    if (base_ != nullptr) munmap(base_, static_cast<size_t>(bytes_));
  }

  std::string_view name() const override { return "null"; }

  // Reserved addresses that fault when touched, so that a device-blind host access shows at once.
  std::byte* allocate_arena(int64_t bytes) override {
    bytes_ = bytes > 0 ? bytes : 1;
    void* base = mmap(nullptr, static_cast<size_t>(bytes_), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      throw EnvError(with_errno(fmt::format("cannot reserve {} bytes of addresses", bytes)));
    base_ = base;
    return static_cast<std::byte*>(base);
  }

  KernelId prepare(const OpSig&) override { return KernelId(0); }
  void run(KernelId, const Operands&) override {}
  void write(std::byte*, const void*, int64_t) override {}
  void read(void* to, const std::byte*, int64_t bytes) override {
    std::memset(to, 0, static_cast<size_t>(bytes));
  }
  bool host_addressable() const override { return false; }
  void synchronize() override {}

 private:
  void* base_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Device> make_null_device() { return std::make_unique<NullDevice>(); }

}  // namespace trireme
