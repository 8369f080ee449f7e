// TensorBoard event files: scalars only. Records are
// u64 length, masked CRC32C of it, an Event protobuf, masked CRC32C of that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "obs/append_file.h"

namespace trireme {

uint32_t crc32c(std::span<const std::byte> bytes);  // Castagnoli, as RFC 3720 gives it

struct Scalar {
  std::string tag;  // "train/loss"
  float value = 0;
};

class EventWriter {
 public:
  // A new file events.out.tfevents.<seconds>.<host>.<process> in `folder`. Events of steps after
  // `resumed_step` in the folder's earlier event files are taken out, and a TensorBoard that has them in
  // memory is told to drop them.
  EventWriter(const std::string& folder, int64_t resumed_step);

  void write(int64_t step, std::span<const Scalar> scalars);  // one event, in the file when it returns
  const std::string& path() const { return file_->path(); }

 private:
  std::optional<AppendFile> file_;
};

}  // namespace trireme
