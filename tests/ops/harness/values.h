// Operands as numbers: every element as a double, whatever its dtype in memory, and random contents.
#pragma once
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace trireme {

using Values = std::vector<double>;

// Random contents of an operand by the case's fill; the same for the same name. Values are ones that
// type.dtype holds exactly.
Values random_values(const InputFill& fill, const TensorType& type, std::string_view name);

// Rounds to `dtype` and back.
double rounded(double x, DType dtype);

void encode(const Values& values, DType dtype, std::byte* to);
Values decode(const std::byte* from, DType dtype, int64_t count);

}  // namespace trireme
