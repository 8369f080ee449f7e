// adamw on the CPU: elements are shared out among the threads.
#include "ops/adamw/adamw.h"

#include <cmath>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "ops/adamw/simd_kernels.h"
#include "ops/grad_norm/grad_norm.h"

namespace trireme {

AdamwKernel adamw_kernel_baseline() { return adamw_kernel_here(); }

namespace {

AdamwStep step_of(const AdamwAttrs& a, const double* scalars) {
  const double lr = scalar(scalars, StepScalar::lr);
  AdamwStep s;
  s.inverse_tokens = static_cast<float>(scalar(scalars, StepScalar::inverse_tokens));
  s.clip = static_cast<float>(scalar(scalars, StepScalar::clip_scale));
  s.keep = static_cast<float>(1 - lr * a.weight_decay);
  s.fresh1 = static_cast<float>(1 - a.beta1);
  s.beta2 = static_cast<float>(a.beta2);
  s.fresh2 = static_cast<float>(1 - a.beta2);
  s.root_bias2 = static_cast<float>(std::sqrt(scalar(scalars, StepScalar::bias2)));
  s.eps = static_cast<float>(a.eps);
  s.step = static_cast<float>(lr / scalar(scalars, StepScalar::bias1));
  return s;
}

}  // namespace

CpuKernel prepare_adamw(const OpSig& sig, const CpuContext& context) {
  constexpr int64_t kGrain = 8192;  // elements
  const auto attrs = unpack_attrs<AdamwAttrs>(sig.attrs);
  const AdamwKernel loop = context.isa >= CpuIsa::avx512 ? adamw_kernel_avx512()
                           : context.isa >= CpuIsa::avx2 ? adamw_kernel_avx2()
                                                         : adamw_kernel_baseline();
  return [=, n = sig.inputs[0].shape[0], threads = context.threads](const Operands& operands) {
    const double* scalars = operands.in<double>(1);
    if (scalar(scalars, StepScalar::finite) == 0) return;
    const AdamwStep step = step_of(attrs, scalars);
    const float* grad = operands.in<float>(0);
    float *param = operands.out<float>(0), *m = operands.out<float>(1), *v = operands.out<float>(2);
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      loop(step, grad + begin, param + begin, m + begin, v + begin, end - begin);
    });
  };
}

}  // namespace trireme
