// A zip that torch.save wrote with one tensor in it: where the tensor's elements lie. For the reader of
// torch-dcp folders, each chunk of which is such a zip. What is in it: torch/serialization.py,
// torch/_utils.py.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/shape.h"
#include "exchange/foreign_tensors.h"

namespace trireme {

// How the elements are held against the zip's checksum of them: `verify` reads them all.
enum class ElementCheck : uint8_t { verify, skip };

struct SavedTensor {
  ForeignDType dtype = ForeignDType::f32;
  Shape shape;
  int64_t begin = 0;  // of the elements, row-major without gaps, in the zip
  bool has_checksum = false;
};

// What data.pkl of such a zip says.
struct SavedTensorHead {
  ForeignDType dtype = ForeignDType::f32;
  Shape shape;
  std::string storage;           // the member data/STORAGE has the elements
  int64_t storage_elements = 0;  // that it holds
  int64_t first_element = 0;     // of the tensor in the storage
};

std::string_view name_of(ForeignDType dtype);  // "F32", as safetensors names it
// The elements that a shape has; -1 when 64 bits cannot count them.
int64_t checked_count(const Shape& shape);

// EnvError, with `what` in front, for anything else than one contiguous little-endian tensor of F32, BF16,
// F16 or F64, and for bytes with another checksum than the zip's.
SavedTensor read_saved_tensor(std::span<const std::byte> zip, ElementCheck check, const std::string& what);
SavedTensorHead parse_saved_tensor(std::span<const std::byte> data_pkl, const std::string& what);

}  // namespace trireme
