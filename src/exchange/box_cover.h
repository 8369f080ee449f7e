// Whether boxes are a tensor, each element once. For the readers of tensors that lie in pieces.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/shape.h"

namespace trireme {

struct Box {
  Shape offset;
  Shape shape;
};

// Empty when every element of `whole` is in exactly one box; else why not. Boxes lie where they like; the
// whole's elements are countable in 64 bits. At most 4 dims may be cut and 65536 boxes given, beyond which it
// says so.
std::optional<std::string> cover_fault(const Shape& whole, std::span<const Box> boxes);

}  // namespace trireme
