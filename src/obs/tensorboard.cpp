// Event files: the protobuf messages Event and Summary by hand (tensorflow/core/util/event.proto,
// framework/summary.proto), framed as TFRecords.
#include "obs/tensorboard.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kFilePrefix = "events.out.tfevents.";

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}

uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(std::as_bytes(std::span(bytes))), 15) + 0xa282ead8u;
}

// Little-endian bytes of a number, as they lie in memory.
template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

enum class Wire : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void put_key(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire));
}

void put_bytes(std::string& out, int field, std::string_view bytes) {
  put_key(out, field, Wire::bytes);
  put_varint(out, bytes.size());
  out.append(bytes);
}

std::string event_head(int64_t step) {
  std::string event;
  const std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
  put_key(event, 1, Wire::fixed64);
  put(event, since_1970.count());
  put_key(event, 2, Wire::varint);
  put_varint(event, static_cast<uint64_t>(step));
  return event;
}

std::string record_of(std::string_view event) {
  std::string record;
  put(record, static_cast<uint64_t>(event.size()));
  put(record, masked_crc(record));
  record += event;
  put(record, masked_crc(event));
  return record;
}

// Field 2 of an event that was written here, where it stands right after the 9 bytes of the time.
int64_t step_of(std::string_view event) {
  uint64_t step = 0;
  if (event.size() < 10 || event[9] != 2 << 3) return 0;
  for (size_t i = 10, shift = 0; i < event.size() && shift < 64; ++i, shift += 7) {
    step |= static_cast<uint64_t>(event[i] & 0x7f) << shift;
    if ((event[i] & 0x80) == 0) break;
  }
  return static_cast<int64_t>(step);
}

// The records of a file up to the first that is torn, those of later steps left out.
std::string trim(std::string_view file, int64_t resumed_step) {
  std::string kept;
  while (file.size() >= 16) {
    uint64_t length = 0;
    uint32_t length_crc = 0;
    std::memcpy(&length, file.data(), 8);
    std::memcpy(&length_crc, file.data() + 8, 4);
    if (length_crc != masked_crc(file.substr(0, 8)) || length > file.size() - 16) break;
    const std::string_view record = file.substr(0, length + 16);
    if (step_of(record.substr(12, length)) <= resumed_step) kept.append(record);
    file.remove_prefix(record.size());
  }
  return kept;
}

void trim_earlier_files(const std::string& folder, int64_t resumed_step) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(kFilePrefix) || name.ends_with(".tmp")) continue;
    const std::string path = it->path().string();
    const std::string bytes = read_file(path);
    const std::string kept = trim(bytes, resumed_step);
    if (kept != bytes) replace_file(path, [&](AppendFile& file) { file.append(kept); });
  }
}

std::string file_name() {
  char host[256] = "host";
  (void)!::gethostname(host, sizeof host - 1);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}{:010}.{}.{}", kFilePrefix,
                     std::chrono::duration_cast<std::chrono::seconds>(now).count(), host, ::getpid());
}
}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc_table();
  uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint32_t>(byte)) & 0xff];
  return crc ^ 0xffffffffu;
}

EventWriter::EventWriter(const std::string& folder, int64_t resumed_step) {
  trim_earlier_files(folder, resumed_step);
  file_.emplace(folder + "/" + file_name());
  std::string version = event_head(0);
  put_bytes(version, 3, "brain.Event:2");
  file_->append(record_of(version));
  if (resumed_step > 0) {
    // session_log {status: START}: readers drop what they have of this step and later.
    std::string start = event_head(resumed_step + 1);
    put_bytes(start, 7, std::string_view("\x08\x01", 2));
    file_->append(record_of(start));
  }
}

void EventWriter::write(int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    put_bytes(value, 1, scalar.tag);
    put_key(value, 2, Wire::fixed32);
    put(value, scalar.value);
    put_bytes(summary, 1, value);
  }
  std::string event = event_head(step);
  put_bytes(event, 5, summary);
  file_->append(record_of(event));
}

}  // namespace trireme
