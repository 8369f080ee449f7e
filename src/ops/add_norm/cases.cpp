// Cases of add_layernorm and add_rmsnorm.
#include "ops/layernorm/norm.h"
#include "ops/layernorm/norm_sizes.h"

namespace trireme {

std::vector<OpCase> add_layernorm_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes())
    for (const bool bias : {false, true}) {
      const TensorType x{DType::f32, s.x}, gain{DType::f32, {s.x.back()}};
      cases.push_back({.name = s.name + (bias ? " bias" : ""),
                       .kind = "add_layernorm",
                       .attrs = pack_attrs(NormAttrs{1e-5}),
                       .inputs = {x, x, gain, bias ? gain : absent_type()},
                       .finite_difference = s.finite_difference,
                       .bench = s.bench && bias});
    }
  return cases;
}

std::vector<OpCase> add_rmsnorm_cases() {
  std::vector<OpCase> cases;
  for (const NormSize& s : norm_sizes()) {
    const TensorType x{DType::f32, s.x};
    cases.push_back({.name = s.name,
                     .kind = "add_rmsnorm",
                     .attrs = pack_attrs(NormAttrs{1e-6}),
                     .inputs = {x, x, {DType::f32, {s.x.back()}}},
                     .finite_difference = s.finite_difference,
                     .bench = s.bench});
  }
  return cases;
}

}  // namespace trireme
