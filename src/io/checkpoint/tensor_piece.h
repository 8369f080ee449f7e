// A tensor to write: a name and a view of the caller's bytes.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace trireme {

// The bytes belong to the caller and must not change until they are written.
struct TensorPiece {
  std::string name;  // unique in its file or checkpoint; not "__metadata__"
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> bytes;  // count(shape) * size_of(dtype), row-major, little-endian
};

}  // namespace trireme
