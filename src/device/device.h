// A device runs prepared kernels over one arena. Leaves: cpu, null (and later cuda). Nothing above knows
// which.
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/ids.h"
#include "ops/op.h"

namespace trireme {

using KernelId = Id<struct KernelTag>;

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;

  // The one allocation of a run: 2 MiB aligned, on huge pages where the system gives them, every page touched
  // and zero. EnvError with the size when it cannot be had. Freed with the device.
  virtual std::byte* allocate_arena(int64_t bytes) = 0;

  // Chooses and builds the kernel for an op of this signature. Kernels of equal signatures may be shared.
  virtual KernelId prepare(const OpSig& sig) = 0;

  // Runs it on the compute stream. The pointers lie in the arena.
  virtual void run(KernelId kernel, const Operands& operands) = 0;

  // Between host memory and the arena; complete on return.
  virtual void write(std::byte* to, const void* from, int64_t bytes) = 0;
  virtual void read(void* to, const std::byte* from, int64_t bytes) = 0;

  // Whether the host may read and write the arena through its own pointers.
  virtual bool host_addressable() const = 0;

  // Returns when everything issued so far has run.
  virtual void synchronize() = 0;
};

}  // namespace trireme
