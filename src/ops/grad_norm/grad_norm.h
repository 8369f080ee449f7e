// The step's scalars: what the host tells the optimizer, and what the gradient norm tells it and the host.
#pragma once
#include <cstddef>

#include "ir/type.h"

namespace trireme {

// Slots of the scalars f64[16].
enum class StepScalar : size_t {
  lr,              // host: learning rate of this step
  bias1,           // host: 1 - beta1^t, t = 1 at the first step
  bias2,           // host: 1 - beta2^t
  inverse_tokens,  // host: 1 / counted tokens of the whole step
  norm,            // grad_norm: norm of gradient * inverse_tokens, before clipping; NaN or Inf as it comes
  clip_scale,      // grad_norm: min(1, clip_norm / (norm + 1e-6)); 1 without clipping
  finite,          // grad_norm: 1, or 0 when the norm is NaN or Inf: the optimizer then does nothing
};
inline constexpr size_t kStepScalars = 16;
inline TensorType step_scalars_type() { return {DType::f64, {static_cast<int64_t>(kStepScalars)}}; }

inline double& scalar(double* scalars, StepScalar slot) { return scalars[static_cast<size_t>(slot)]; }
inline double scalar(const double* scalars, StepScalar slot) { return scalars[static_cast<size_t>(slot)]; }

struct GradNormAttrs {
  double clip_norm = 0;  // 0: no clipping
  template <class F>
  void fields(F&& f) {
    f("clip_norm", clip_norm);
  }
};

}  // namespace trireme
