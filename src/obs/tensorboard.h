// TensorBoard event files (docs/checkpoints.md names the run's files): scalars only. Records are
// u64 length, masked CRC32C of it, an Event protobuf, masked CRC32C of that.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trireme {

uint32_t crc32c(std::span<const std::byte> bytes);  // Castagnoli, as RFC 3720 gives it

struct Scalar {
  std::string tag;  // "train/loss"
  float value = 0;
};

class EventWriter {
 public:
  // A new file events.out.tfevents.<seconds>.<host>.<process> in `folder`. Events of steps after
  // `resumed_step` in the folder's earlier files are taken out, and a running TensorBoard is told to drop
  // them.
  EventWriter(const std::string& folder, int64_t resumed_step);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();

  void write(int64_t step, std::span<const Scalar> scalars);  // one event; in the file when it returns
  const std::string& path() const { return path_; }

 private:
  void append(std::string_view event);

  std::string path_;
  int fd_ = -1;
};

}  // namespace trireme
