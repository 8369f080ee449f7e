// [precision]: what products are computed in. Master weights, moments and gradient sums are fp32.
#pragma once
#include "config/field.h"

namespace trireme {

enum class Compute : uint8_t { bf16, fp32 };
std::span<const std::string_view> names_of_values(Compute);

template <template <class> class As>
struct PrecisionKeys {
  As<Compute> compute{};
};

using PrecisionSpec = PrecisionKeys<Plain>;
using RawPrecision = PrecisionKeys<Maybe>;

}  // namespace trireme
