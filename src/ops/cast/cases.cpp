// Shapes of cast, each to either dtype and (by the bf16 form) from either.
#include <string_view>

#include "ops/cast/cast.h"
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> cast_cases() {
  std::vector<OpCase> cases;
  for (const char* to : {"bf16", "f32"})
    for (const int64_t n : {1, 17, 70000, 8 << 20})
      cases.push_back({.name = std::to_string(n) + " to " + to,
                       .kind = "cast",
                       .attrs = pack_attrs(CastAttrs{to}),
                       .inputs = {{DType::f32, {n}}},
                       .finite_difference = n == 17 && std::string_view(to) == "f32",
                       .bench = n == 8 << 20});
  return cases;
}

}  // namespace trireme
