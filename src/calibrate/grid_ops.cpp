// Grids: every combination of a few sizes per dim.
#include <algorithm>
#include <string_view>

#include "calibrate/op_list.h"
#include "ops/attention/attention.h"
#include "ops/experts/experts.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

using Sizes = std::vector<int64_t>;

OpSig completed(OpSig sig) {
  sig.inputs.resize(op_def(sig.kind).inputs.size(), absent_type());
  sig.outputs = op_def(sig.kind).infer(sig.attrs, sig.inputs);
  return sig;
}

TensorType packed(DType dtype, const LinearAttrs& each, const char* use, int64_t count = 1) {
  return {dtype, {count * packed_count(each.out, each.in, use)}};
}

void add_products(std::vector<OpSig>& sigs, const OpListOptions& options) {
  const DType dtype = options.compute;
  const bool quick = options.extent == Extent::quick;
  for (const int64_t rows : quick ? Sizes{256, 2048} : Sizes{64, 256, 1024, 2048})
    for (const int64_t in : quick ? Sizes{256, 1024} : Sizes{256, 1024, 3072})
      for (const int64_t out : quick ? Sizes{256, 1024} : Sizes{256, 1024, 3072}) {
        const LinearAttrs a{in, out};
        const TensorType x{dtype, {1, rows, in}}, y{dtype, {1, rows, out}};
        sigs.push_back(completed({"linear", pack_attrs(a), {x, packed(dtype, a, "forward")}, {}}));
        sigs.push_back(
            completed({"linear_grad_input", pack_attrs(a), {y, packed(dtype, a, "input_grad")}, {}}));
        sigs.push_back(
            completed({"linear_grad_weight", pack_attrs(LinearGradWeightAttrs{in, out, 0}), {x, y}, {}}));
      }
}

void add_attention(std::vector<OpSig>& sigs, const OpListOptions& options) {
  const bool quick = options.extent == Extent::quick;
  const int64_t heads = std::max<int64_t>(8, int64_t{2} * options.threads);
  for (const int64_t positions : quick ? Sizes{256, 1024} : Sizes{128, 512, 2048})
    for (const int64_t head_dim : quick ? Sizes{64} : Sizes{32, 64, 128}) {
      const AttentionAttrs a{.heads = heads, .kv_heads = heads, .head_dim = head_dim};
      const TensorType qkv{options.compute, {1, positions, qkv_width(a)}};
      const OpSig forward = completed({"attention", pack_attrs(a), {qkv}, {}});
      sigs.push_back(forward);
      const TensorType &y = forward.outputs[0], &lse = forward.outputs[1];
      sigs.push_back(completed({"attention_grad", pack_attrs(a), {qkv, y, lse, y}, {}}));
    }
}

void add_heads(std::vector<OpSig>& sigs, const OpListOptions& options) {
  const DType dtype = options.compute;
  const bool quick = options.extent == Extent::quick;
  for (const int64_t rows : quick ? Sizes{256} : Sizes{128, 1024})
    for (const int64_t width : Sizes{256, 1024})
      for (const int64_t vocab : quick ? Sizes{4096} : Sizes{1024, 16384}) {
        const LinearAttrs weight{width, vocab};
        const HeadLossAttrs a{.vocab = vocab, .width = width};
        const TensorType x{dtype, {1, rows, width}}, targets{DType::i32, {1, rows}};
        const TensorType forward = packed(dtype, weight, "forward");
        sigs.push_back(completed({"head_loss", pack_attrs(a), {x, forward, targets}, {}}));
        sigs.push_back(completed({"head_loss_grad",
                                  pack_attrs(a),
                                  {x, forward, packed(dtype, weight, "input_grad"), targets},
                                  {}}));
      }
}

void add_experts(std::vector<OpSig>& sigs, const OpListOptions& options) {
  const DType dtype = options.compute;
  const bool quick = options.extent == Extent::quick;
  constexpr int64_t kExperts = 8, kTopK = 2;
  for (const int64_t rows : quick ? Sizes{128} : Sizes{16, 128, 512})
    for (const int64_t width : quick ? Sizes{256} : Sizes{256, 768})
      for (const int64_t ffn : quick ? Sizes{256} : Sizes{256, 1024}) {
        const ExpertsAttrs a{.experts = kExperts, .top_k = kTopK, .width = width, .ffn = ffn};
        const LinearAttrs gate_up{width, 2 * ffn}, down{ffn, width};
        const int64_t tokens = rows * kExperts / kTopK;
        const TensorType x{dtype, {1, tokens, width}};
        const TensorType ids{DType::i32, {1, tokens, kTopK}}, weights{DType::f32, {1, tokens, kTopK}};
        const OpSig forward = completed({"experts",
                                         pack_attrs(a),
                                         {x, ids, weights, packed(dtype, gate_up, "forward", kExperts),
                                          packed(dtype, down, "forward", kExperts)},
                                         {}});
        sigs.push_back(forward);
        OpSig grad{
            "experts_grad", pack_attrs(a), {x, ids, weights, forward.outputs[1], forward.outputs[2]}, {}};
        grad.inputs.push_back(packed(dtype, gate_up, "input_grad", kExperts));
        grad.inputs.push_back(packed(dtype, down, "input_grad", kExperts));
        grad.inputs.push_back(x);
        sigs.push_back(completed(grad));
      }
}

}  // namespace

bool on_grid(const OpSig& sig) {
  const std::string_view kind = sig.kind;
  return kind.starts_with("linear") || kind.find("attention") != kind.npos || kind.starts_with("head_") ||
         kind.starts_with("experts") || kind == "gather_linear";
}

std::vector<OpSig> grid_ops(const OpListOptions& options) {
  std::vector<OpSig> sigs;
  add_products(sigs, options);
  add_attention(sigs, options);
  add_heads(sigs, options);
  add_experts(sigs, options);
  return sigs;
}

}  // namespace trireme
