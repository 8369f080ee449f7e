// Where two boxes of one tensor overlap, as runs of elements that lie side by side in both. Resharding a
// checkpoint is nothing but copying such runs.
#pragma once
#include <cstdint>
#include <vector>

#include "base/shape.h"

namespace trireme {

// The elements [first, last) of a box of a tensor, both row-major.
struct BoxPart {
  Shape offset, shape;  // of the box in the tensor, per dim
  int64_t first = 0, last = 0;

  int64_t elements() const { return last - first; }
};

// All elements of a tensor.
BoxPart whole_of(const Shape& shape);

// `count` elements, from these of the two parts on (0 is a part's first).
struct BoxRun {
  int64_t from = 0, to = 0, count = 0;
  bool operator==(const BoxRun&) const = default;
};

// In the order of `from`.
std::vector<BoxRun> overlap_of(const BoxPart& from, const BoxPart& to);

}  // namespace trireme
