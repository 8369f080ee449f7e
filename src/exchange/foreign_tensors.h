// Tensors in the files of other projects, as data: which bytes of which file are which box of which tensor.
// Every importer (Hugging Face folders, llm.c files, torch-dcp folders) gives one of these, so what is done
// with the tensors is written once. Knows nothing of Trireme's own names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/shape.h"

namespace trireme {

// What the elements of a foreign tensor are.
enum class ForeignDType : uint8_t { f32, bf16, f16, f64 };

// A box of the tensor, row-major and without gaps, from byte `begin` of a file.
struct ForeignPiece {
  size_t file = 0;  // of ForeignTensors::files
  int64_t begin = 0;
  Shape offset;  // of the box in the tensor, per dim
  Shape shape;   // of the box
};

struct ForeignTensor {
  ForeignDType dtype = ForeignDType::f32;
  Shape shape;
  std::vector<ForeignPiece> pieces;  // they cover the tensor, each element once
};

struct ForeignTensors {
  std::string from;                // for messages: the folder or file that was named
  std::vector<std::string> files;  // paths
  std::map<std::string, ForeignTensor> tensors;
};

}  // namespace trireme
