// Seconds of an op's kernel on one rank, as a step would see it: operands lie in an arena of huge pages, and
// every call has others, so that caches are as cold as they are in a step whose memory is larger than they.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "ops/op.h"

namespace trireme {

// What a rank needs for the ops that it times: inputs, outputs and scratch of one call.
struct OperandBytes {
  int64_t inputs = 0, outputs = 0, scratch = 0;
  int64_t sum() const { return inputs + outputs + scratch; }
};
OperandBytes operand_bytes(const OpSig& sig, int threads);

struct OpTimerOptions {
  int threads = 1;
  OperandBytes largest;      // of the ops to come, each
  int64_t rotate_bytes = 0;  // of inputs, and of outputs: what calls may go through
};

class OpTimer {
 public:
  // EnvError when the memory cannot be had.
  explicit OpTimer(const OpTimerOptions& options);

  // Makes the kernel; then calls may be timed. They go through so much of inputs, and of outputs, before they
  // come round: at most OpTimerOptions::rotate_bytes.
  void prepare(const OpSig& sig, int64_t rotate_bytes);
  // Median of the calls that go into `budget_s`, one at least, behind one that is not counted.
  double measure(double budget_s);

 private:
  // A region that calls go through in turn.
  struct Region {
    std::byte* begin = nullptr;
    int64_t bytes = 0, turn = 0, next = 0;  // turn: what is gone through
    std::byte* take(int64_t wanted);
  };
  // One operand of each call: at a place of the call's part of a region, or the same for all.
  struct Place {
    int64_t offset = 0;
    std::byte* fixed = nullptr;
    bool absent = false;
  };

  std::vector<Place> place(const std::vector<TensorType>& types, const std::vector<OperandDef>& defs);
  void call();

  int threads_;
  std::unique_ptr<Device> device_;
  Region inputs_, outputs_, fixed_;  // what lies in inputs_ is never written
  std::byte* scratch_ = nullptr;
  OpSig sig_;
  KernelId kernel_;
  OperandBytes bytes_;
  std::vector<Place> input_places_, output_places_;
  std::vector<void*> input_pointers_, output_pointers_;
};

}  // namespace trireme
