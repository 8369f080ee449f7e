// Seconds of an op's kernel on one rank, as a step would see it: operands lie in an arena of huge pages, and
// further calls use further ones, so that a core's own caches are no warmer than in a step.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "ops/op.h"

namespace trireme {

// Of one call, without what calls rotate over.
int64_t operand_bytes(const OpSig& sig, int threads);

class OpTimer {
 public:
  // The arena holds `bytes`: at least operand_bytes of every op to come. EnvError when it cannot be had.
  OpTimer(int threads, int64_t bytes);

  // Makes the kernel and its operands; then calls may be timed.
  void prepare(const OpSig& sig);
  // Median of the calls that go into `budget_s`, three at least but where one alone takes longer.
  double measure(double budget_s);

 private:
  struct Operand {
    const TensorType* type;
    std::string_view name;
  };
  void place(const std::vector<Operand>& operands, std::vector<void*>& pointers, std::byte*& next) const;
  void fill(const Operand& operand, std::byte* to) const;
  void call();

  int threads_;
  int64_t bytes_;
  std::unique_ptr<Device> device_;
  std::byte* arena_ = nullptr;
  std::vector<float> pattern_;
  OpSig sig_;
  KernelId kernel_;
  struct OperandSet {
    std::vector<void*> inputs, outputs;
  };
  std::vector<OperandSet> sets_;
  std::byte* scratch_ = nullptr;
  size_t next_set_ = 0;
};

}  // namespace trireme
