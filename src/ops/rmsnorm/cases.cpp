// Cases of rmsnorm and rmsnorm_grad.
#include "ops/layernorm/norm.h"
#include "ops/layernorm/norm_rules.h"
#include "ops/layernorm/norm_sizes.h"

namespace trireme {

std::vector<OpCase> rmsnorm_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes())
    cases.push_back({.name = s.name,
                     .kind = "rmsnorm",
                     .attrs = pack_attrs(NormAttrs{1e-6}),
                     .inputs = {{DType::f32, s.x}, {DType::f32, {s.x.back()}}},
                     .fills = {{.scale = 2.0f}},
                     .finite_difference = s.finite_difference,
                     .bench = s.bench});
  return cases;
}

std::vector<OpCase> rmsnorm_grad_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes())
    for (const bool residual : {false, true}) {
      const TensorType x{DType::f32, s.x};
      cases.push_back(
          {.name = s.name + (residual ? " residual" : ""),
           .kind = "rmsnorm_grad",
           .attrs = {},
           .inputs = {x, {DType::f32, {s.x.back()}}, row_statistic(x), x, residual ? x : absent_type()},
           .fills = {{}, {}, {.kind = InputFill::Kind::positive}},
           .bench = s.bench && residual});
    }
  return cases;
}

}  // namespace trireme
