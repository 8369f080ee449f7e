// PaLM's count, of what a token uses.
#include "model/flops.h"

#include <fmt/format.h>

namespace trireme {
namespace {

// Sizes of a query or key head and of a value head, over all heads and layers: 2 FLOPs forward and 4 back for
// each element and key of the scores, and as much for the values.
int64_t attended_dims(const ModelSpec& spec) {
  const int64_t v_dim = spec.family == Family::deepseek ? spec.mla.v_dim : spec.head_dim;
  return spec.heads * (spec.head_dim + v_dim);
}

// Layers with attention.
int64_t attention_layers(const ModelSpec& spec) { return spec.layers + spec.mtp; }

}  // namespace

int64_t matmul_parameters(const ModelSpec& spec, const Model& model) {
  int64_t n = 0;
  for (const ParamSpec& param : model.params) {
    const bool table =
        param.name == "positions.weight" || (param.name == "embed.weight" && !spec.tie_embeddings);
    const bool experts =
        param.use.role == ParamRole::expert_column || param.use.role == ParamRole::expert_row;
    if (param.shape.size() < 2 || table || param.use.role == ParamRole::router_state) continue;
    n += experts ? count(param.shape) / spec.moe.experts * spec.moe.top_k : count(param.shape);
  }
  return n + spec.mtp * spec.vocab * spec.width;  // the head once more for each further token
}

double flops_per_token(const ModelSpec& spec, const Model& model, int64_t seq_len) {
  return 6.0 * static_cast<double>(matmul_parameters(spec, model)) +
         6.0 * static_cast<double>(attention_layers(spec)) * static_cast<double>(attended_dims(spec)) *
             static_cast<double>(seq_len);
}

std::string flops_formula(const ModelSpec& spec, const Model& model, int64_t seq_len) {
  const bool equal = attended_dims(spec) == 2 * spec.heads * spec.head_dim;
  return fmt::format("6 * {} + {} * {} * {} * {}", matmul_parameters(spec, model), equal ? 12 : 6,
                     attention_layers(spec), equal ? spec.heads * spec.head_dim : attended_dims(spec),
                     seq_len);
}

}  // namespace trireme
