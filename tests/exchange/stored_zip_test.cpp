// Zips that torch wrote, and every way to be wrong.
#include "exchange/stored_zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "scratch_folder.h"
#include "zip_bytes.h"

namespace trireme {
namespace {
using namespace test;
using testing::HasSubstr;

const std::string kSaved = std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch_dcp/saved/";

std::string refused(const std::string& bytes) {
  return refusal([&] {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees any reading past it
    const auto view = std::as_bytes(std::span(exact));
    const StoredZip zip = read_stored_zip(view, "f.zip");
    for (const ZipMember& member : zip.members) check_member(zip, member, view, "f.zip");
  });
}

std::string with(std::string bytes, size_t at, const std::string& written) {
  return bytes.replace(at, written.size(), written);
}

TEST(StoredZip, ReadsWhatTorchWrites) {
  const std::string bytes = slurp(kSaved + "view.pt");
  const StoredZip zip = read_stored_zip(bytes_of(bytes), "view.pt");
  EXPECT_TRUE(zip.has_checksums);
  const ZipMember* order = zip.find("view/byteorder");
  ASSERT_TRUE(order);
  EXPECT_EQ(bytes.substr(static_cast<size_t>(order->begin), static_cast<size_t>(order->bytes)), "little");
  EXPECT_FALSE(zip.find("view"));
  EXPECT_EQ(refused(bytes), "accepted");
}

TEST(StoredZip, ReadsPlainOnes) {
  const std::string bytes = zip_of({{"a", "one"}, {"b/c", ""}});
  const StoredZip zip = read_stored_zip(bytes_of(bytes), "f.zip");
  ASSERT_EQ(zip.members.size(), 2u);
  EXPECT_EQ(bytes.substr(static_cast<size_t>(zip.find("a")->begin), 3), "one");
  EXPECT_EQ(zip.find("b/c")->bytes, 0);
  EXPECT_EQ(refused(zip_of({})), "accepted");
}

TEST(StoredZip, ChecksumsAreHeldAgainstTheBytes) {
  std::string bytes = zip_of({{"a", "one"}});
  bytes[bytes.find("one")] = 'O';
  EXPECT_THAT(refused(bytes), HasSubstr("member a has the checksum 4221c011 and must have 7a6c86f1"));
  EXPECT_EQ(refused(zip_of({{.name = "a", .data = "one", .checksum = false}})), "accepted");
}

TEST(StoredZip, OtherFormsAreRefusedByName) {
  EXPECT_THAT(refused(zip_of({{.name = "a", .data = "x", .method = 8}})),
              HasSubstr("member a is compressed (method 8)"));
  EXPECT_THAT(refused(zip_of({{.name = "a", .data = "x", .flags = 1}})), HasSubstr("member a is encrypted"));
  EXPECT_THAT(refused(zip_of({{.name = "a", .data = "x", .flags = 0x2000}})), HasSubstr("the flags 0x2000"));
  EXPECT_THAT(refused(zip_of({{"a", "x"}, {"a", "y"}})), HasSubstr("member a stands twice"));
  EXPECT_THAT(refused(zip_of({{"a\n", "x"}})), HasSubstr("control characters"));
  EXPECT_THAT(refused(zip_of({{"", "x"}})), HasSubstr("name is empty"));
  EXPECT_THAT(refused("PK"), HasSubstr("2 bytes are no zip"));
  EXPECT_THAT(refused(std::string(100, 'x')), HasSubstr("no zip ends here"));
  EXPECT_THAT(refused(zip_of({{"a", "x"}}) + "!"), HasSubstr("no zip ends here"));
}

TEST(StoredZip, PlacesAreHeldAgainstWhatIsThere) {
  const std::string good = zip_of({{"a", "one"}, {"b", "two"}});
  const size_t end = good.size() - 22;
  const size_t a = good.find("PK\1\2"), b = good.find("PK\1\2", a + 1);
  EXPECT_THAT(refused(with(good, end + 20, "\1")), HasSubstr("a comment"));
  EXPECT_THAT(refused(with(good, end + 4, "\1")), HasSubstr("several disks"));
  EXPECT_THAT(refused(with(good, end + 8, "\3")), HasSubstr("contradicts itself"));
  EXPECT_THAT(refused(with(good, end + 8, std::string("\3\0\3\0", 4))),
              HasSubstr("its directory goes beyond"));
  EXPECT_THAT(refused(with(good, end + 8, std::string("\1\0\1\0", 4))), HasSubstr("longer than its members"));
  EXPECT_THAT(refused(with(good, end + 16, "\xff\xff\xff\xff")), HasSubstr("its directory goes beyond"));
  EXPECT_THAT(refused(with(good, end + 12, "\1")), HasSubstr("between its directory and its end"));
  EXPECT_THAT(refused(with(good, a, "PX")), HasSubstr("its directory is damaged"));
  EXPECT_THAT(refused(with(good, a + 28, "\xff\xff")), HasSubstr("its directory goes beyond"));
  EXPECT_THAT(refused(with(good, a + 20, "\4")), HasSubstr("member a has 3 bytes stored as 4"));
  EXPECT_THAT(refused(with(good, a + 20, std::string("\xff\0\0\0\xff\0\0\0", 8))),
              HasSubstr("member a goes beyond"));
  EXPECT_THAT(refused(with(good, a + 42, "\xff\xff\xff\xff")), HasSubstr("member a goes beyond"));
  EXPECT_THAT(refused(with(good, a + 42, "\2")), HasSubstr("member a is not where"));
  EXPECT_THAT(refused(with(good, b + 42, std::string(1, '\0'))), HasSubstr("member b has another name"));
  EXPECT_THAT(refused(with(good, 8, "\x08")), HasSubstr("member a is compressed"));
}

// A zip that has many members on the same bytes, small in itself and huge when unpacked.
TEST(StoredZip, OverlappingMembersAreRefused) {
  const MemberBytes inner{"b", "payload"};
  const MemberBytes outer{"a", local_part(inner)};
  const std::string bytes = local_part(outer);
  const std::string directory =
      central_part(outer, 0) + central_part(inner, bytes.size() - local_part(inner).size());
  EXPECT_THAT(refused(bytes + directory + end_part(2, directory.size(), bytes.size())),
              HasSubstr("member b overlaps another"));
}

std::string wide_zip(uint64_t size_field, uint64_t at_field, uint64_t members = 1) {
  const MemberBytes m{"a", "one"};
  std::string bytes = local_part(m);
  std::string central = central_part(m, 0);
  central = with(central, 20, std::string(8, '\xff'));
  central = with(central, 30, little_endian(28, 2));
  central = with(central, 42, std::string(4, '\xff'));
  central += little_endian(1, 2) + little_endian(24, 2) + little_endian(size_field, 8) +
             little_endian(size_field, 8) + little_endian(at_field, 8);
  const size_t directory = bytes.size();
  bytes += central;
  const size_t end64 = bytes.size();
  bytes += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
           std::string(8, '\0') + little_endian(members, 8) + little_endian(members, 8) +
           little_endian(central.size(), 8) + little_endian(directory, 8);
  bytes += "PK\6\7" + little_endian(0, 4) + little_endian(end64, 8) + little_endian(1, 4);
  return bytes + with(end_part(0xffff, 0, 0), 12, std::string(8, '\xff'));
}

TEST(StoredZip, SizesBeyond32Bits) {
  EXPECT_EQ(refused(wide_zip(3, 0)), "accepted");
  EXPECT_THAT(refused(wide_zip(UINT64_MAX, 0)), HasSubstr("member a goes beyond"));
  EXPECT_THAT(refused(wide_zip(3, UINT64_MAX - 2)), HasSubstr("member a goes beyond"));
  EXPECT_THAT(refused(wide_zip(3, 0, UINT64_MAX)), HasSubstr("its directory goes beyond"));
  std::string bytes = wide_zip(3, 0);
  const size_t locator = bytes.find("PK\6\7");
  EXPECT_THAT(refused(with(bytes, locator + 8, std::string(8, '\xff'))),
              HasSubstr("zip64 end record goes beyond"));
  EXPECT_THAT(refused(with(bytes, locator + 8, std::string(1, '\1'))),
              HasSubstr("zip64 end record is not there"));
  EXPECT_THAT(refused(with(bytes, bytes.size() - 6, std::string(4, '\1'))),
              HasSubstr("contradict each other"));
}

TEST(StoredZip, CutAnywhereIsRefused) {
  for (const std::string& whole : {slurp(kSaved + "view.pt"), wide_zip(3, 0)}) {
    for (size_t size = 0; size < whole.size(); ++size)
      ASSERT_NE(refused(whole.substr(0, size)), "accepted") << size;
  }
}

}  // namespace
}  // namespace trireme
