// Windows: what is fetched, what is kept, what a failure leaves.
#include "io/store/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"

namespace trireme {
namespace {
using testing::ElementsAre;

struct Letters {
  std::string text = "abcdefghijklmnopqrstuvwxyz";
  std::vector<std::string> fetched;  // "8+4": offset and size
  int failures = 0;
  ReadAhead::Object object{1, 26, [this](int64_t offset, std::span<std::byte> into) {
                             fetched.push_back(fmt::format("{}+{}", offset, into.size()));
                             if (failures-- > 0) fail_env("no");
                             std::copy_n(reinterpret_cast<const std::byte*>(text.data()) + offset,
                                         into.size(), into.begin());
                           }};

  std::string read(ReadAhead& ahead, int64_t offset, size_t size) {
    std::string into(size, '\0');
    ahead.read(object, offset, std::as_writable_bytes(std::span(into)));
    return into;
  }
};

TEST(ReadAhead, SmallReadsFetchWindowsOnce) {
  Letters letters;
  ReadAhead ahead(8, 2);
  EXPECT_EQ(letters.read(ahead, 0, 3), "abc");
  EXPECT_EQ(letters.read(ahead, 3, 7), "defghij");  // over the edge
  EXPECT_EQ(letters.read(ahead, 25, 1), "z");
  EXPECT_THAT(letters.fetched, ElementsAre("0+8", "8+8", "24+2"));
  EXPECT_EQ(letters.read(ahead, 8, 2), "ij");  // still kept
  EXPECT_EQ(letters.read(ahead, 0, 2), "ab");  // was used longest ago
  EXPECT_THAT(letters.fetched, ElementsAre("0+8", "8+8", "24+2", "0+8"));
}

TEST(ReadAhead, LargeReadsPassBy) {
  Letters letters;
  ReadAhead ahead(8, 2);
  EXPECT_EQ(letters.read(ahead, 1, 20), letters.text.substr(1, 20));
  EXPECT_THAT(letters.fetched, ElementsAre("1+20"));
}

TEST(ReadAhead, AFailureIsNotKept) {
  Letters letters;
  ReadAhead ahead(8, 2);
  letters.failures = 1;
  EXPECT_THROW(letters.read(ahead, 0, 3), EnvError);
  EXPECT_EQ(letters.read(ahead, 0, 3), "abc");
}

}  // namespace
}  // namespace trireme
