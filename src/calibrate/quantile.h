// The value that a part of what was measured does not exceed: 0.5, the median.
#pragma once
#include <algorithm>
#include <vector>

namespace trireme {

// `values` must have some; part lies in [0, 1). Where it falls between two, the larger.
inline double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace trireme
