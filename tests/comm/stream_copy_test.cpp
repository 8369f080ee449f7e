// Every alignment and length up to a few cache lines, and nothing beside the target is touched.
#include "comm/stream_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace trireme {
namespace {

TEST(StreamCopy, CopiesEveryLengthAtEveryAlignment) {
  std::vector<std::byte> from(1024);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 37 + 1);
  for (int64_t shift = 0; shift < 64; ++shift)
    for (int64_t bytes = 0; bytes < 300; ++bytes) {
      std::vector<std::byte> to(512, std::byte{0});
      stream_copy(to.data() + shift, from.data() + 3, bytes);
      std::vector<std::byte> expected(512, std::byte{0});
      std::copy(from.begin() + 3, from.begin() + 3 + bytes, expected.begin() + shift);
      ASSERT_EQ(to, expected) << shift << " " << bytes;
    }
}

}  // namespace
}  // namespace trireme
