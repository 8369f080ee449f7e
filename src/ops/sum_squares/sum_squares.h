// The partial sums behind the gradient norm.
#pragma once
#include <cstdint>

namespace trireme {

// Elements behind one partial sum. A parameter's partials depend on its values alone, not on how the flat
// buffer is cut, as long as it starts at a multiple of this.
inline constexpr int64_t kSquaresPerPartial = 1024;

}  // namespace trireme
