// Lengths of sum_squares around its partial sums of 1024.
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> sum_squares_cases() {
  std::vector<OpCase> cases;
  for (const int64_t n : {1, 15, 1023, 1024, 1025, 70001, 8 << 20})
    cases.push_back({.name = std::to_string(n),
                     .kind = "sum_squares",
                     .inputs = {{DType::f32, {n}}},
                     .bf16 = false,
                     .bench = n == 8 << 20});
  return cases;
}

}  // namespace trireme
