// mtp_targets, stack_batch and unstack_batch on the CPU: copies.
#include <algorithm>
#include <cstring>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/head/head.h"

namespace trireme {
namespace {

constexpr int64_t kPiece = 1 << 16;  // bytes

void copy_bytes(int threads, std::byte* to, const std::byte* from, int64_t bytes) {
  parallel_for(threads, bytes, kPiece, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace

CpuKernel prepare_mtp_targets(const OpSig& sig, const CpuContext& context) {
  const int64_t rows = count(sig.inputs[0].shape), length = sig.inputs[0].shape[1];
  return [=, threads = context.threads](const Operands& operands) {
    const int32_t* targets = operands.in<int32_t>(0);
    int32_t *next = operands.out<int32_t>(0), *all = operands.out<int32_t>(1);
    parallel_for(threads, rows, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const int32_t after = n % length + 1 < length ? targets[n + 1] : kIgnoredTarget;
        next[n] = std::max(targets[n], 0);
        all[n] = targets[n];
        all[rows + n] = targets[n] < 0 || after < 0 ? kIgnoredTarget : further_target(after);
      }
    });
  };
}

CpuKernel prepare_stack_batch(const OpSig& sig, const CpuContext& context) {
  return [bytes = bytes_of(sig.inputs[0]), threads = context.threads](const Operands& operands) {
    copy_bytes(threads, operands.out<std::byte>(0), operands.in<std::byte>(0), bytes);
    copy_bytes(threads, operands.out<std::byte>(0) + bytes, operands.in<std::byte>(1), bytes);
  };
}

CpuKernel prepare_unstack_batch(const OpSig& sig, const CpuContext& context) {
  return [bytes = bytes_of(sig.outputs[0]), threads = context.threads](const Operands& operands) {
    copy_bytes(threads, operands.out<std::byte>(0), operands.in<std::byte>(0), bytes);
    copy_bytes(threads, operands.out<std::byte>(1), operands.in<std::byte>(0) + bytes, bytes);
  };
}

}  // namespace trireme
