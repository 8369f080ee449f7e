// How a shape rule says no: expect_types(condition, op, rule, inputs) throws std::invalid_argument with the
// rule and the types that break it.
#pragma once
#include <span>
#include <string_view>

#include "ir/type.h"

namespace trireme {

// Throws "rope: the last dim must be (H+2K)*D; given f32[2,8,96], absent".
[[noreturn]] void refuse_types(std::string_view op, std::string_view rule,
                               std::span<const TensorType> inputs);

inline void expect_types(bool holds, std::string_view op, std::string_view rule,
                         std::span<const TensorType> inputs) {
  if (!holds) refuse_types(op, rule, inputs);
}

// Activations and parameters: f32 or bf16.
inline bool is_compute(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

}  // namespace trireme
