// Lengths of sgd, with and without momentum and decay.
#include <fmt/format.h>

#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"
#include "ops/sgd/sgd.h"

namespace trireme {

std::vector<OpCase> sgd_cases() {
  std::vector<OpCase> cases;
  const InputFill positive{.kind = InputFill::Kind::positive};
  for (const SgdAttrs& attrs : {SgdAttrs{}, SgdAttrs{.momentum = 0.9, .weight_decay = 0.1}})
    for (const int64_t n : {1, 15, 4097, 70001, 8 << 20}) {
      // Where an only element's sum cancels, its rounding is all that is left of it.
      const InputFill sign = n == 1 ? positive : InputFill{};
      cases.push_back({.name = fmt::format("{} momentum {} decay {}", n, attrs.momentum, attrs.weight_decay),
                       .kind = "sgd",
                       .attrs = pack_attrs(attrs),
                       .inputs = {{DType::f32, {n}}, step_scalars_type()},
                       .fills = {sign, positive, {}, sign},
                       .bf16 = false,
                       .bench = n == 8 << 20 && attrs.momentum > 0});
    }
  return cases;
}

}  // namespace trireme
