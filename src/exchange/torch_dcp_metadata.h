// The file .metadata of a torch-dcp folder, as data: which tensors there are and which bytes of which file
// hold which box of each. The classes: torch/distributed/checkpoint/metadata.py and filesystem.py. For
// read_torch_dcp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "exchange/box_cover.h"
#include "exchange/foreign_tensors.h"

namespace trireme {

// The bytes [begin, begin + bytes) of a file, a zip of torch.save, hold this box.
struct DcpChunk {
  size_t file = 0;  // of DcpMetadata::files
  int64_t begin = 0;
  int64_t bytes = 0;
};

struct DcpTensor {
  ForeignDType dtype = ForeignDType::f32;
  Shape shape;
  std::vector<Box> boxes;        // none is empty; they cover the tensor, each element once
  std::vector<DcpChunk> chunks;  // one per box
};

// Why an entry is no weight that could be imported.
enum class DcpLeftOut : uint8_t { no_tensor, of_optimizer, other_dtype };

struct DcpMetadata {
  std::vector<std::string> files;  // plain names in the folder
  std::map<std::string, DcpTensor> tensors;
  std::map<DcpLeftOut, std::vector<std::string>> left_out;
};

// True for what is kept with a model and is none of its weights: `optimizer`, `optimizers` or `optim` is the
// first or second of the name's parts, which dots separate.
bool is_of_optimizer(std::string_view name);

// `file` is the name for messages. EnvError for anything that is not whole: a class that the format does not
// have, a path out of the folder, a transformed (compressed) chunk, chunks that do not cover their tensor or
// share bytes.
DcpMetadata parse_dcp_metadata(std::span<const std::byte> bytes, const std::string& file);

}  // namespace trireme
