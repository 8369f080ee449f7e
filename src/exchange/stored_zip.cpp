// Reads a zip from its end: the end record, the zip64 one before it, the central directory, then each
// member's own header. All positions are counted in uint64_t and held against the size before use.
#include "exchange/stored_zip.h"

#include <zlib.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr uint64_t kLocatorBytes = 20;
constexpr uint64_t kCentralBytes = 46;
constexpr uint64_t kLocalBytes = 30;
// Flags that leave the data as they are: sizes follow the data (bit 3), names are UTF-8 (bit 11).
constexpr uint64_t kHarmlessFlags = 0x0808;
constexpr uint64_t kInExtra = 0xffffffff;  // the value is in the zip64 extra field

struct Directory {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t members = 0;
};

// A member of the central directory, before its own header was looked at.
struct Listed {
  std::string name;
  uint64_t header = 0;  // where its own header begins
  uint64_t bytes = 0;
  uint64_t crc32 = 0;
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> zip, const std::string& what) : zip_(zip), what_(what) {}

  StoredZip run() {
    const Directory directory = find_directory();
    StoredZip zip;
    uint64_t at = directory.begin;
    std::vector<std::pair<uint64_t, ZipMember>> found;  // with where their headers begin
    for (uint64_t i = 0; i < directory.members; ++i) {
      const Listed listed = read_listed(at, directory.end);
      found.emplace_back(listed.header, find_data(listed, directory.begin));
    }
    if (at != directory.end) refuse("its directory is longer than its members");
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::set<std::string_view> names;
    int64_t end = 0;
    for (const auto& [header, member] : found) {
      if (static_cast<int64_t>(header) < end) refuse(fmt::format("member {} overlaps another", member.name));
      end = member.begin + member.bytes;
      if (!names.insert(member.name).second) refuse(fmt::format("member {} stands twice", member.name));
      zip.has_checksums |= member.crc32 != 0;
    }
    for (auto& [header, member] : found) zip.members.push_back(std::move(member));
    return zip;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { fail_env("{}: {}", what_, why); }

  void need(uint64_t at, uint64_t bytes, uint64_t end, const char* part) const {
    if (at > end || bytes > end - at)
      refuse(fmt::format("{} goes beyond its place: cut short or damaged", part));
  }

  uint64_t number(uint64_t at, uint64_t bytes) const {  // the caller has checked that it is there
    uint64_t value = 0;
    for (uint64_t i = 0; i < bytes; ++i) value |= std::to_integer<uint64_t>(zip_[at + i]) << (8 * i);
    return value;
  }

  std::string text(uint64_t at, uint64_t bytes) const {
    return {reinterpret_cast<const char*>(zip_.data()) + at, bytes};
  }

  Directory find_directory() const {
    if (zip_.size() < kEndBytes) refuse(fmt::format("{} bytes are no zip", zip_.size()));
    const uint64_t end = zip_.size() - kEndBytes;
    if (number(end, 4) != 0x06054b50) refuse("no zip ends here: cut short, damaged, or of another format");
    if (number(end + 20, 2) != 0) refuse("it has a comment");
    if (number(end + 4, 4) != 0) refuse("it is split over several disks");
    Directory directory{.begin = number(end + 16, 4), .end = end, .members = number(end + 10, 2)};
    uint64_t bytes = number(end + 12, 4);
    if (number(end + 8, 2) != directory.members) refuse("its end record contradicts itself");
    if (end >= kLocatorBytes && number(end - kLocatorBytes, 4) == 0x07064b50) {
      const Directory wide = find_wide_directory(end - kLocatorBytes, bytes);
      const bool agrees = (directory.members == 0xffff || directory.members == wide.members) &&
                          (directory.begin == kInExtra || directory.begin == wide.begin);
      if (!agrees) refuse("its two end records contradict each other");
      directory = wide;
    }
    need(directory.begin, bytes, directory.end, "its directory");
    if (directory.begin + bytes != directory.end) refuse("something lies between its directory and its end");
    return directory;
  }

  // `bytes`: of the directory, as the plain end record says; replaced.
  Directory find_wide_directory(uint64_t locator, uint64_t& bytes) const {
    const uint64_t at = number(locator + 8, 8);
    need(at, kEnd64Bytes, locator, "its zip64 end record");
    if (at + kEnd64Bytes != locator || number(at, 4) != 0x06064b50)
      refuse("its zip64 end record is not there");
    if (number(locator + 4, 4) != 0 || number(at + 16, 8) != 0) refuse("it is split over several disks");
    if (number(at + 24, 8) != number(at + 32, 8)) refuse("its zip64 end record contradicts itself");
    const uint64_t wide_bytes = number(at + 40, 8);
    if (bytes != kInExtra && bytes != wide_bytes) refuse("its two end records contradict each other");
    bytes = wide_bytes;
    return {.begin = number(at + 48, 8), .end = at, .members = number(at + 32, 8)};
  }

  Listed read_listed(uint64_t& at, uint64_t end) const {
    need(at, kCentralBytes, end, "its directory");
    if (number(at, 4) != 0x02014b50) refuse("its directory is damaged");
    const uint64_t name_bytes = number(at + 28, 2);
    const uint64_t extra_bytes = number(at + 30, 2);
    const uint64_t comment_bytes = number(at + 32, 2);
    need(at + kCentralBytes, name_bytes + extra_bytes + comment_bytes, end, "its directory");
    Listed listed{.name = text(at + kCentralBytes, name_bytes),
                  .header = number(at + 42, 4),
                  .bytes = number(at + 24, 4),
                  .crc32 = number(at + 16, 4)};
    check_name(listed.name);
    check_method(at + 8, listed.name);
    uint64_t packed = number(at + 20, 4);
    if (number(at + 34, 2) != 0) refuse(fmt::format("member {} lies on another disk", listed.name));
    read_wide_fields(at + kCentralBytes + name_bytes, extra_bytes, packed, listed);
    if (packed != listed.bytes)
      refuse(fmt::format("member {} has {} bytes stored as {}", listed.name, listed.bytes, packed));
    at += kCentralBytes + name_bytes + extra_bytes + comment_bytes;
    return listed;
  }

  // Flags and method, two bytes each.
  void check_method(uint64_t at, const std::string& name) const {
    const uint64_t flags = number(at, 2);
    const uint64_t method = number(at + 2, 2);
    if ((flags & 1) != 0) refuse(fmt::format("member {} is encrypted", name));
    if (method != 0)
      refuse(fmt::format("member {} is compressed (method {}); only stored ones are read", name, method));
    if ((flags & ~kHarmlessFlags) != 0) refuse(fmt::format("member {} has the flags 0x{:04x}", name, flags));
  }

  void check_name(const std::string& name) const {
    const bool good = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (!good) refuse("a member's name is empty or has control characters");
  }

  // The zip64 extra field has those of size, stored size and place that are kInExtra, in that order.
  void read_wide_fields(uint64_t at, uint64_t extra_bytes, uint64_t& packed, Listed& listed) const {
    const uint64_t end = at + extra_bytes;
    while (end - at >= 4) {
      const uint64_t id = number(at, 2);
      const uint64_t bytes = number(at + 2, 2);
      need(at + 4, bytes, end, "an extra field");
      uint64_t field = at + 4;
      at = field + bytes;
      if (id != 1) continue;
      for (uint64_t* value : {&listed.bytes, &packed, &listed.header}) {
        if (*value != kInExtra) continue;
        need(field, 8, at, "a zip64 field");
        *value = number(field, 8);
        field += 8;
      }
      return;
    }
  }

  // Follows a member to its own header, which must agree, and from there to its data.
  ZipMember find_data(const Listed& listed, uint64_t directory_begin) const {
    const std::string part = "member " + listed.name;
    need(listed.header, kLocalBytes, directory_begin, part.c_str());
    if (number(listed.header, 4) != 0x04034b50) refuse(part + " is not where the directory says");
    check_method(listed.header + 6, listed.name);
    const uint64_t name_bytes = number(listed.header + 26, 2);
    const uint64_t extra_bytes = number(listed.header + 28, 2);
    need(listed.header + kLocalBytes, name_bytes + extra_bytes, directory_begin, part.c_str());
    const std::string name = text(listed.header + kLocalBytes, name_bytes);
    if (name != listed.name) refuse(part + " has another name in its own header");
    const uint64_t begin = listed.header + kLocalBytes + name_bytes + extra_bytes;
    need(begin, listed.bytes, directory_begin, part.c_str());
    return {.name = listed.name,
            .begin = static_cast<int64_t>(begin),
            .bytes = static_cast<int64_t>(listed.bytes),
            .crc32 = static_cast<uint32_t>(listed.crc32)};
  }

  std::span<const std::byte> zip_;
  const std::string& what_;
};

}  // namespace

const ZipMember* StoredZip::find(std::string_view name) const {
  const auto it =
      std::find_if(members.begin(), members.end(), [&](const ZipMember& m) { return m.name == name; });
  return it == members.end() ? nullptr : &*it;
}

StoredZip read_stored_zip(std::span<const std::byte> zip, const std::string& what) {
  return ZipReader(zip, what).run();
}

void check_member(const StoredZip& zip, const ZipMember& member, std::span<const std::byte> zip_bytes,
                  const std::string& what) {
  if (!zip.has_checksums) return;
  const auto bytes = zip_bytes.subspan(static_cast<size_t>(member.begin), static_cast<size_t>(member.bytes));
  const auto crc =
      static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
  if (crc != member.crc32)
    fail_env("{}: member {} has the checksum {:08x} and must have {:08x}: its bytes are damaged", what,
             member.name, crc, member.crc32);
}

}  // namespace trireme
