// What the definitions of the three norm folders share: shapes, costs, scratch.
#pragma once
#include "ops/layernorm/norm.h"
#include "ops/op.h"
#include "ops/shape_rule.h"

namespace trireme {

// The type of a statistic: one f32 per row of x.
TensorType row_statistic(const TensorType& x);

// [C] in x's dtype.
bool is_gain(const TensorType& gain, const TensorType& x);

// Traffic, with accumulators read as well, and `per_element` flops for each element of input 0.
Cost norm_cost(const OpSig& sig, int64_t per_element);

// Scratch of the gradient: per chunk of rows one row of f32 per present accumulator.
int64_t norm_grad_scratch(const OpSig& sig);

// The longest sum: over a row, or over all rows in the gradient.
int64_t norm_reduction(const OpSig& sig);

}  // namespace trireme
