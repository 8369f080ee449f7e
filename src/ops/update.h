// What the ops share that update the state of parameters in place, from a gradient and the step's scalars:
// adamw, sgd, expert_bias.
#pragma once
#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace trireme {

// grad f32[n] and the scalars.
inline void expect_flat_update(std::string_view op, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::f32 && in[0].shape.size() == 1, op, "grad is f32[n]", in);
  expect_types(in[1] == step_scalars_type(), op, "scalars is f64[16]", in);
}

// All outputs are read and written.
inline Cost update_cost(const OpSig& sig, int64_t flops) {
  Cost cost = traffic(sig);
  cost.bytes_read += cost.bytes_written;
  cost.flops = flops;
  return cost;
}

}  // namespace trireme
