// Zips written by hand, right or wrong.
#pragma once
#include <zlib.h>

#include <string>
#include <vector>

#include "pickle_bytes.h"

namespace trireme::test {

struct MemberBytes {
  std::string name;
  std::string data;
  uint16_t flags = 0;
  uint16_t method = 0;
  bool checksum = true;
};

inline uint32_t crc_of(const std::string& data) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const unsigned char*>(data.data()), static_cast<unsigned>(data.size())));
}

inline std::string local_part(const MemberBytes& m) {
  return "PK\3\4" + little_endian(20, 2) + little_endian(m.flags, 2) + little_endian(m.method, 2) +
         std::string(16, '\0') + little_endian(m.name.size(), 2) + little_endian(0, 2) + m.name + m.data;
}

inline std::string central_part(const MemberBytes& m, size_t header) {
  return "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + little_endian(m.flags, 2) +
         little_endian(m.method, 2) + little_endian(0, 4) +
         little_endian(m.checksum ? crc_of(m.data) : 0, 4) + little_endian(m.data.size(), 4) +
         little_endian(m.data.size(), 4) + little_endian(m.name.size(), 2) + std::string(12, '\0') +
         little_endian(header, 4) + m.name;
}

inline std::string end_part(size_t members, size_t directory_bytes, size_t directory) {
  return "PK\5\6" + std::string(4, '\0') + little_endian(members, 2) + little_endian(members, 2) +
         little_endian(directory_bytes, 4) + little_endian(directory, 4) + little_endian(0, 2);
}

inline std::string zip_of(const std::vector<MemberBytes>& members) {
  std::string bytes, directory;
  for (const MemberBytes& m : members) {
    directory += central_part(m, bytes.size());
    bytes += local_part(m);
  }
  return bytes + directory + end_part(members.size(), directory.size(), bytes.size());
}

}  // namespace trireme::test
