// Sizes of zero: small, with tails, and beyond what the CPU kernel keeps in its cache.
#include "ops/zero/zero.h"

#include "ops/op.h"

namespace trireme {

std::vector<OpCase> zero_cases() {
  std::vector<OpCase> cases;
  for (const int64_t n : {1, 17, 70000, 300001, 8 << 20})
    cases.push_back({.name = std::to_string(n),
                     .kind = "zero",
                     .attrs = pack_attrs(ZeroAttrs{n}),
                     .bf16 = false,
                     .bench = n == 8 << 20});
  return cases;
}

}  // namespace trireme
