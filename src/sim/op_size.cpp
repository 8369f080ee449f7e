// Sizes from signatures. Ops that are not named here move memory.
#include "sim/op_size.h"

#include <algorithm>
#include <cmath>

#include "ops/attention/context.h"
#include "ops/experts/experts.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"
#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

bool starts_with(const OpSig& sig, std::string_view start) {
  return std::string_view(sig.kind).starts_with(start);
}
bool is_gradient(const OpSig& sig) { return std::string_view(sig.kind).ends_with("_grad"); }

bool is_product(const OpSig& sig) {
  return sig.kind == "linear" || sig.kind == "linear_grad_input" || sig.kind == "linear_grad_weight";
}
bool is_overlapped(const OpSig& sig) { return sig.kind == "gather_linear" || sig.kind == "linear_scatter"; }
bool is_context_attention(const OpSig& sig) {
  return starts_with(sig, "ring_attention") || starts_with(sig, "gather_attention") ||
         starts_with(sig, "ulysses_attention");
}
bool is_attention(const OpSig& sig) {
  return sig.kind == "attention" || sig.kind == "attention_grad" || is_context_attention(sig);
}

std::vector<int64_t> product_size(const OpSig& sig) {
  const auto in = std::get<int64_t>(*sig.attrs.find("in")), out = std::get<int64_t>(*sig.attrs.find("out"));
  return {rows_of(sig.inputs[0]), in, out};
}

std::vector<int64_t> overlapped_size(const OpSig& sig) {
  const ChunkSizes s = sig.kind == "gather_linear" ? gather_linear_sizes(sig) : linear_scatter_sizes(sig);
  const bool forward = std::get<std::string>(*sig.attrs.find("use")) == "forward";
  return {s.rows * s.ranks, forward ? s.k : s.n, forward ? s.n : s.k};
}

// Of the whole sequences; `share` of their pairs are this rank's.
std::vector<int64_t> attention_size(const AttentionAttrs& a, int64_t sequences, int64_t positions,
                                    double share) {
  const int64_t seen = a.window > 0 ? std::min(positions, 2 * a.window) : positions;
  const double parts = static_cast<double>(visible_pairs(positions, 0, a.window)) /
                       static_cast<double>(visible_pairs(seen, 0, 0));
  const double heads = share * parts * static_cast<double>(sequences * a.heads);
  return {std::max<int64_t>(1, std::llround(heads)), seen, a.head_dim};
}

std::vector<int64_t> attention_size(const OpSig& sig) {
  const int64_t sequences = sig.inputs[0].shape[0], positions = sig.inputs[0].shape[1];
  if (!is_context_attention(sig))
    return attention_size(unpack_attrs<AttentionAttrs>(sig.attrs), sequences, positions, 1);
  const auto a = unpack_attrs<ContextAttrs>(sig.attrs);
  return attention_size(a.attention, sequences, positions * a.at.ranks,
                        1.0 / static_cast<double>(a.at.ranks));
}

std::vector<int64_t> experts_size(const OpSig& sig) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  const int64_t owned = std::max<int64_t>(1, s.owned);
  return {owned, std::max<int64_t>(1, s.choices() / owned), s.width, s.ffn};
}

}  // namespace

std::vector<int64_t> size_of_op(const OpSig& sig) {
  if (is_product(sig)) return product_size(sig);
  if (is_overlapped(sig)) return overlapped_size(sig);
  if (is_attention(sig)) return attention_size(sig);
  if (starts_with(sig, "experts")) return experts_size(sig);
  if (starts_with(sig, "head_loss")) {
    const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
    return {rows_of(sig.inputs[0]), a.width, a.vocab};
  }
  const Cost cost = op_def(sig.kind).cost(sig);
  return {cost.bytes_read + cost.bytes_written};
}

std::string curve_of_op(const OpSig& sig) {
  if (is_context_attention(sig)) return is_gradient(sig) ? "attention_grad" : "attention";
  const auto attribute = [&](std::string_view name) { return std::get<std::string>(*sig.attrs.find(name)); };
  if (is_overlapped(sig)) return attribute("use") == "forward" ? "linear" : "linear_grad_input";
  if (starts_with(sig, "activation")) return sig.kind + "_" + attribute("kind");
  if (sig.kind == "pack") return sig.kind + "_" + attribute("use");
  if (sig.kind == "rope") return sig.kind + "_" + attribute("layout");
  return sig.kind;
}

std::string_view dtype_of_op(const OpSig& sig) {
  return name_of(sig.inputs.empty() ? DType::f32 : sig.inputs[0].dtype);
}

int64_t rows_of(const TensorType& type) {
  return count(type.shape) / std::max<int64_t>(1, type.shape.back());
}

double work_of_size(std::string_view curve, const std::vector<int64_t>& size) {
  double work = 1;
  for (const int64_t n : size) work *= static_cast<double>(std::max<int64_t>(1, n));
  if (curve.starts_with("attention") && size.size() == 3) work *= static_cast<double>(size[1]);
  return work;
}

}  // namespace trireme
