// Which bytes of a zip are which member, for zips whose members are stored as they are: the form that
// torch.save writes. Trusts nothing: every member lies where its own header says so too, and no two share a
// byte. Layout and names of fields: PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.3 (zip64).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

struct ZipMember {
  std::string name;
  int64_t begin = 0;  // of its data, in the zip
  int64_t bytes = 0;
  uint32_t crc32 = 0;
};

struct StoredZip {
  std::vector<ZipMember> members;  // by `begin`; names are unique
  // False when every checksum is 0, which is how torch.save writes a zip without checksums.
  bool has_checksums = false;

  const ZipMember* find(std::string_view name) const;  // null when there is none
};

// `zip` is the whole zip and nothing else, `what` stands for it in messages. EnvError for one that is
// damaged, cut short, compressed, encrypted, split, or has a comment.
StoredZip read_stored_zip(std::span<const std::byte> zip, const std::string& what);

// EnvError when the member's bytes have another checksum than the zip says; nothing without checksums.
void check_member(const StoredZip& zip, const ZipMember& member, std::span<const std::byte> zip_bytes,
                  const std::string& what);

}  // namespace trireme
