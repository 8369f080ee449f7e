// Cases of layernorm and layernorm_grad: with and without bias and residual gradient.
#include "ops/layernorm/norm.h"
#include "ops/layernorm/norm_rules.h"
#include "ops/layernorm/norm_sizes.h"

namespace trireme {

std::vector<OpCase> layernorm_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes())
    for (const bool bias : {false, true}) {
      const TensorType x{DType::f32, s.x}, gain{DType::f32, {s.x.back()}};
      cases.push_back({.name = s.name + (bias ? " bias" : ""),
                       .kind = "layernorm",
                       .attrs = pack_attrs(NormAttrs{1e-5}),
                       .inputs = {x, gain, bias ? gain : absent_type()},
                       .fills = {{.scale = 2.0f}},
                       .finite_difference = s.finite_difference,
                       .bench = s.bench && bias});
    }
  return cases;
}

std::vector<OpCase> layernorm_grad_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes())
    for (const int64_t bias : {0, 1})
      for (const bool residual : {false, true}) {
        const TensorType x{DType::f32, s.x}, gain{DType::f32, {s.x.back()}}, row = row_statistic(x);
        cases.push_back({.name = s.name + (bias != 0 ? " bias" : "") + (residual ? " residual" : ""),
                         .kind = "layernorm_grad",
                         .attrs = pack_attrs(LayernormGradAttrs{bias}),
                         .inputs = {x, gain, row, row, x, residual ? x : absent_type()},
                         .fills = {{}, {}, {}, {.kind = InputFill::Kind::positive}},
                         .bench = s.bench && bias != 0 && residual});
      }
  return cases;
}

}  // namespace trireme
