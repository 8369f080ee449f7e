// Typed indices: an IR refers to its parts by number, and a ValueId cannot be passed for a BlockId.
#pragma once
#include <compare>
#include <cstdint>

namespace trireme {

template <class Tag>
struct Id {
  int32_t index = -1;

  Id() = default;
  explicit constexpr Id(int64_t i) : index(static_cast<int32_t>(i)) {}
  bool valid() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace trireme
