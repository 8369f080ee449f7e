// Any bytes given as a pickle: as .metadata of a torch-dcp folder and as the head of a tensor of torch.save.
// Each is refused with an EnvError, or what it says holds together.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "exchange/torch_dcp_metadata.h"
#include "exchange/torch_save.h"

namespace {

using namespace trireme;

void check(const DcpMetadata& metadata) {
  for (const auto& [name, tensor] : metadata.tensors) {
    if (tensor.boxes.size() != tensor.chunks.size() || checked_count(tensor.shape) < 0) std::abort();
    int64_t elements = 0;
    for (const Box& box : tensor.boxes) elements += checked_count(box.shape);
    if (elements != checked_count(tensor.shape)) std::abort();
    for (const DcpChunk& chunk : tensor.chunks) {
      const std::string& file = metadata.files.at(chunk.file);
      if (file.find('/') != std::string::npos || file == "..") std::abort();
      if (chunk.begin < 0 || chunk.bytes < 0 || chunk.begin > INT64_MAX - chunk.bytes) std::abort();
    }
  }
}

void check(const SavedTensorHead& head) {
  const int64_t elements = checked_count(head.shape);
  if (elements < 0 || head.first_element < 0 || head.first_element > head.storage_elements - elements)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(begin, begin + size);  // on the heap: reading past its end is seen
  try {
    check(parse_dcp_metadata(bytes, "fuzz"));
  } catch (const EnvError&) {
  }
  try {
    check(parse_saved_tensor(bytes, "fuzz"));
  } catch (const EnvError&) {
  }
  return 0;
}
