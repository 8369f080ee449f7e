// What the families with RMSNorm, rotary positions and a gate share: llama and deepseek.
#pragma once
#include <string>

#include "model/block_builder.h"
#include "ops/rope/rope.h"

namespace trireme {

// RMSNorm over the last dim, of `width`.
ValueId rms_norm(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name,
                 int64_t width);

// Rotary positions of heads of `head_dim` dims.
RopeAttrs rotary_attrs(const ModelSpec& spec, int64_t heads, int64_t kv_heads, int64_t head_dim);

// From the residual stream after attention to the one after the layer: norm, feed-forward or experts, add.
ValueId feed_forward(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId middle,
                     LayerKind kind);

// The experts' part of it (moe.cpp): x is the normed activation [B,T,C].
ValueId experts_layer(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x);

// silu(gate) * up of x, then down, under the names `name`.gate_up and `name`.down.
ValueId gated_layer(BlockBuilder& block, const ModelSpec& spec, ValueId x, const std::string& name,
                    int64_t ffn);

BlockBuilder rms_embed_block(const ModelSpec& spec, const ModelInputs& inputs);
BlockBuilder rms_head_block(const ModelSpec& spec, const ModelInputs& inputs);

}  // namespace trireme
