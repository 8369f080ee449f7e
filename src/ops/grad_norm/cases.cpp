// Lengths of grad_norm, with and without clipping. GPT-2 124M has 121,529 partial sums.
#include "ops/grad_norm/grad_norm.h"

#include <fmt/format.h>

#include "ops/op.h"

namespace trireme {

std::vector<OpCase> grad_norm_cases() {
  std::vector<OpCase> cases;
  const InputFill positive{.kind = InputFill::Kind::positive};
  for (const double clip_norm : {0.0, 1.0, 1e9})
    for (const int64_t n : {1, 5, 1000, 121529})
      cases.push_back({.name = fmt::format("{} clip {}", n, clip_norm),
                       .kind = "grad_norm",
                       .attrs = pack_attrs(GradNormAttrs{clip_norm}),
                       .inputs = {{DType::f64, {n}}},
                       .fills = {positive, positive},
                       .bf16 = false,
                       .bench = n == 121529 && clip_norm == 1.0});
  return cases;
}

}  // namespace trireme
