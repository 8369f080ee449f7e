// Any bytes given as a zip: it is refused with an EnvError, or its members lie inside of it, apart and in
// order. The same bytes as a tensor of torch.save.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "exchange/stored_zip.h"
#include "exchange/torch_save.h"

namespace {

using namespace trireme;

void read_zip(std::span<const std::byte> bytes) {
  const StoredZip zip = read_stored_zip(bytes, "fuzz");
  int64_t end = 0;
  for (const ZipMember& member : zip.members) {
    if (member.bytes < 0 || member.begin < end) std::abort();
    end = member.begin + member.bytes;
    if (end > static_cast<int64_t>(bytes.size()) || zip.find(member.name) != &member) std::abort();
  }
  for (const ZipMember& member : zip.members) check_member(zip, member, bytes, "fuzz");
}

void read_tensor(std::span<const std::byte> bytes) {
  const SavedTensor tensor = read_saved_tensor(bytes, ElementCheck::verify, "fuzz");
  if (tensor.begin < 0 || tensor.begin > static_cast<int64_t>(bytes.size())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(begin, begin + size);  // on the heap: reading past its end is seen
  for (const auto read : {read_zip, read_tensor}) {
    try {
      read(bytes);
    } catch (const EnvError&) {
    }
  }
  return 0;
}
