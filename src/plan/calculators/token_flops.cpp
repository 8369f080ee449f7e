// Counting is model/flops.h's; here it is put beside the same formula on bare numbers.
#include "plan/calculators/token_flops.h"

#include <fmt/format.h>

#include "model/flops.h"
#include "plan/calculators/worked.h"

namespace trireme {

int64_t active_parameters(const ModelSpec& spec, const Model& model) {
  int64_t n = parameter_count(model);
  for (const ParamSpec& param : model.params) {
    const bool experts =
        param.use.role == ParamRole::expert_column || param.use.role == ParamRole::expert_row;
    if (experts) n -= count(param.shape) / spec.moe.experts * (spec.moe.experts - spec.moe.top_k);
  }
  return n;
}

TokenFlops token_flops(const ModelSizes& sizes) {
  TokenFlops flops;
  flops.products = 6 * sizes.parameters;
  flops.attention = 12.0 * static_cast<double>(sizes.layers) * static_cast<double>(sizes.width) *
                    static_cast<double>(sizes.seq);
  flops.formula = "6 * " + sizes.symbol;
  flops.numbers = "6 * " + plain(sizes.parameters);
  if (flops.attention == 0) return flops;
  flops.formula += " + 12 * L * d * T";
  flops.numbers += fmt::format(" + 12 * {} * {} * {}", sizes.layers, sizes.width, sizes.seq);
  return flops;
}

TokenFlops token_flops(const RunSpec& spec) {
  const Model model = whole_model(spec);
  TokenFlops flops;
  flops.products = 6.0 * static_cast<double>(matmul_parameters(spec.model, model));
  flops.attention = flops_per_token(spec.model, model, spec.data.seq_len) - flops.products;
  flops.formula = "6 * N_matmul + 12 * L * (H*D) * T";
  if (spec.model.family == Family::deepseek) flops.formula = "6 * N_matmul + 6 * L * H*(D + Dv) * T";
  flops.numbers = flops_formula(spec.model, model, spec.data.seq_len);
  return flops;
}

}  // namespace trireme
