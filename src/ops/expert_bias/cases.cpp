// Numbers of experts.
#include <fmt/format.h>

#include "ops/expert_bias/expert_bias.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> expert_bias_cases() {
  std::vector<OpCase> cases;
  const InputFill positive{.kind = InputFill::Kind::positive};
  for (const int64_t experts : {1, 8, 257})
    cases.push_back({.name = fmt::format("{} experts", experts),
                     .kind = "expert_bias",
                     .attrs = pack_attrs(ExpertBiasAttrs{.rate = 0.001}),
                     .inputs = {{DType::f32, {2, experts}}, step_scalars_type()},
                     .fills = {positive, positive},
                     .bf16 = false});
  return cases;
}

}  // namespace trireme
