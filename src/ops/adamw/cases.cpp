// Lengths of adamw, with and without decay.
#include "ops/adamw/adamw.h"

#include <fmt/format.h>

#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> adamw_cases() {
  std::vector<OpCase> cases;
  const InputFill positive{.kind = InputFill::Kind::positive};
  for (const double decay : {0.0, 0.1})
    for (const int64_t n : {1, 15, 4097, 70001, 8 << 20})
      cases.push_back({.name = fmt::format("{} decay {}", n, decay),
                       .kind = "adamw",
                       .attrs = pack_attrs(AdamwAttrs{.beta2 = 0.95, .weight_decay = decay}),
                       .inputs = {{DType::f32, {n}}, step_scalars_type()},
                       .fills = {{}, positive, {}, {}, positive},
                       .bf16 = false,
                       .bench = n == 8 << 20 && decay > 0});
  return cases;
}

}  // namespace trireme
