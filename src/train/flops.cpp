// PaLM's count.
#include "train/flops.h"

#include <fmt/format.h>

namespace trireme {

int64_t matmul_parameters(const ModelSpec& spec, const Model& model) {
  int64_t n = 0;
  for (const ParamSpec& param : model.params) {
    const bool table =
        param.name == "positions.weight" || (param.name == "embed.weight" && !spec.tie_embeddings);
    if (param.shape.size() >= 2 && !table) n += count(param.shape);
  }
  return n;
}

double flops_per_token(const ModelSpec& spec, const Model& model, int64_t seq_len) {
  const double attention = 12.0 * static_cast<double>(spec.layers) *
                           static_cast<double>(spec.heads * spec.head_dim) * static_cast<double>(seq_len);
  return 6.0 * static_cast<double>(matmul_parameters(spec, model)) + attention;
}

std::string flops_formula(const ModelSpec& spec, const Model& model, int64_t seq_len) {
  return fmt::format("6 * {} + 12 * {} * {} * {}", matmul_parameters(spec, model), spec.layers,
                     spec.heads * spec.head_dim, seq_len);
}

}  // namespace trireme
