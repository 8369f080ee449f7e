// Attributes of zero.
#pragma once
#include <cstdint>

namespace trireme {

struct ZeroAttrs {
  int64_t count = 0;  // f32 elements
  template <class F>
  void fields(F&& f) {
    f("count", count);
  }
};

}  // namespace trireme
