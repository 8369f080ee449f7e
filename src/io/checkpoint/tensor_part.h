// Part of a tensor, to write: a view of the caller's bytes, and which elements of the whole tensor they are.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "base/dtype.h"
#include "io/checkpoint/box_runs.h"

namespace trireme {

// The bytes belong to the caller and must not change until they are written.
struct TensorPart {
  std::string tensor;  // its name in the checkpoint
  DType dtype = DType::f32;
  Shape shape;  // of the whole tensor
  BoxPart part;
  std::span<const std::byte> bytes;  // part.elements() * size_of(dtype), row-major, little-endian
};

// Its name in a rank's file: that of the tensor when it is all of it; of a box "NAME[0:4,16:32]", and of some
// of a box's elements "NAME[0:4,16:32]{0:40}".
std::string entry_name(const TensorPart& part);

}  // namespace trireme
