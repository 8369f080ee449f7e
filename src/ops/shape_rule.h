// How a shape rule says no: expect_types(condition, op, rule, inputs) throws std::invalid_argument with the
// rule and the types that break it.
#pragma once
#include <fmt/format.h>

#include <span>
#include <string_view>

#include "ir/type.h"
#include "ops/placing.h"

namespace trireme {

// Throws "rope: the last dim must be (H+2K)*D; given f32[2,8,96], absent".
[[noreturn]] void refuse_types(std::string_view op, std::string_view rule,
                               std::span<const TensorType> inputs);

inline void expect_types(bool holds, std::string_view op, std::string_view rule,
                         std::span<const TensorType> inputs) {
  if (!holds) refuse_types(op, rule, inputs);
}

// Of ops that talk to the ranks of an axis.
inline void expect_axis(std::string_view op, const AxisAttrs& axis, std::span<const TensorType> inputs) {
  if (axis.ranks < 1 || axis.rank < 0 || axis.rank >= axis.ranks)
    refuse_types(op, fmt::format("rank = {} of ranks = {}", axis.rank, axis.ranks), inputs);
}

// Activations and parameters: f32 or bf16.
inline bool is_compute(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

}  // namespace trireme
