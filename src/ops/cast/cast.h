// Attributes of cast.
#pragma once
#include <string>

namespace trireme {

struct CastAttrs {
  std::string to = "bf16";  // bf16 | f32
  template <class F>
  void fields(F&& f) {
    f("to", to);
  }
};

}  // namespace trireme
