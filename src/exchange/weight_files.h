// A checkpoint's weights into files of another project, parameter by parameter: what is held in memory is
// the largest of them and its bytes in the file.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "exchange/name_map.h"
#include "io/checkpoint/checkpoint.h"

namespace trireme {

// Where a tensor of the map goes. Those of use `accepted` go nowhere.
struct TensorPlace {
  size_t file = 0;
  int64_t begin = 0;         // its first byte
  DType dtype = DType::f32;  // or bf16
};

struct WeightFile {
  std::string path;                 // must not be there
  std::span<const std::byte> head;  // its first bytes
  int64_t bytes = 0;                // all of it; what no tensor covers is 0
};

// `places`: per tensor of the map. The files are durable when it returns.
void write_weight_files(const CheckpointReader& checkpoint, const NameMap& map,
                        std::span<const TensorPlace> places, std::span<const WeightFile> files);

}  // namespace trireme
