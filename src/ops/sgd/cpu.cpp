// sgd on the CPU: elements are shared out among the threads.
#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/sgd/sgd.h"
#include "ops/sgd/simd_kernels.h"

namespace trireme {

SgdKernel sgd_kernel_baseline() { return sgd_kernel_here(); }

namespace {

SgdStep step_of(const SgdAttrs& a, const double* scalars) {
  const double lr = scalar(scalars, StepScalar::lr);
  SgdStep s;
  s.inverse_tokens = static_cast<float>(scalar(scalars, StepScalar::inverse_tokens));
  s.clip = static_cast<float>(scalar(scalars, StepScalar::clip_scale));
  s.momentum = static_cast<float>(a.momentum);
  s.keep = static_cast<float>(1 - lr * a.weight_decay);
  s.step = static_cast<float>(lr);
  return s;
}

}  // namespace

CpuKernel prepare_sgd(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 8192;  // elements
  const auto attrs = unpack_attrs<SgdAttrs>(sig.attrs);
  const SgdKernel loop = context.isa >= CpuIsa::avx512 ? sgd_kernel_avx512()
                         : context.isa >= CpuIsa::avx2 ? sgd_kernel_avx2()
                                                       : sgd_kernel_baseline();
  return [=, n = sig.inputs[0].shape[0], threads = context.threads](const Operands& operands) {
    const double* scalars = operands.in<double>(1);
    if (scalar(scalars, StepScalar::finite) == 0) return;
    const SgdStep step = step_of(attrs, scalars);
    const float* grad = operands.in<float>(0);
    float *param = operands.out<float>(0), *m = operands.out<float>(1);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      loop(step, grad + begin, param + begin, m + begin, end - begin);
    });
  };
}

}  // namespace trireme
