// Compares a kernel's output with the oracle's.
#include "ops/harness/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme {

Tolerance tolerance_of(DType output, bool half, int64_t reduction, int roundings) {
  const double u32 = std::ldexp(1.0, -24), u16 = std::ldexp(1.0, -8);
  const double sum = u32 * std::sqrt(static_cast<double>(std::max<int64_t>(1, reduction)));
  Tolerance t{4 * u32, 4 * u32 + 4 * sum, 4 * u32 + 2 * sum};
  if (output == DType::bf16) {
    t.relative += u16;
    t.rms += u16;
  }
  if (half && reduction > 1) {
    t.of_largest += roundings * u16;
    t.rms += roundings * u16;
  }
  return t;
}

std::string compare(const Values& got, const Values& want, const Tolerance& tolerance) {
  if (got.size() != want.size()) return fmt::format("{} elements, expected {}", got.size(), want.size());
  double largest = 0, squares = 0, errors = 0;
  for (const double w : want) {
    if (!std::isfinite(w)) continue;
    largest = std::max(largest, std::abs(w));
    squares += w * w;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double error = std::abs(got[i] - want[i]);
    if (!(error <= tolerance.relative * std::abs(want[i]) + tolerance.of_largest * largest + 1e-37))
      return fmt::format("element {} is {}, expected {} (largest {}, relative error {:.3g})", i, got[i],
                         want[i], largest, error / std::abs(want[i]));
    errors += error * error;
  }
  if (!(std::sqrt(errors) <= tolerance.rms * std::sqrt(squares) + 1e-37))
    return fmt::format("rms error is {:.3g} of the rms value, expected at most {:.3g}",
                       std::sqrt(errors / squares), tolerance.rms);
  return "";
}

}  // namespace trireme
