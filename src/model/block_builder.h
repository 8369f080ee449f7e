// What a family's file writes its blocks with: a Graph under construction together with the parameters that
// it uses.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "ops/build.h"

namespace trireme {

// How a parameter starts: weights normal around 0, gains 1, biases 0.
enum class Init : uint8_t { normal, residual, ones, zeros };

class BlockBuilder {
 public:
  BlockBuilder(std::string graph_name, const ModelSpec& spec) : spec_(spec) {
    graph_.name = std::move(graph_name);
  }

  // Parameters and what ops make are called by this and their name, until it changes.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  ValueId input(std::string name, Shape shape);  // activation from the block before, f32
  ValueId batch(std::string name, Shape shape);  // i32
  ValueId param(std::string name, Shape shape, Init init, ParamUse use = {});  // the name within the block
  // One that this block keeps for others of its place in the chain and does not read.
  void keep(const ParamSpec& param);
  // An op with one output of interest, the first; the others get `name` with their operand's name appended.
  ValueId op(std::string_view kind, Attrs attrs, std::vector<ValueId> inputs, const std::string& name);
  // The same with all outputs, under names of their own.
  std::vector<ValueId> ops(std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                           const std::vector<std::string>& names);
  // x W^T + b, with parameters `name`.weight and, when the model has biases, `name`.bias. x[...,in] ->
  // [...,out].
  // A column's bias is a column too, a row's is whole.
  ValueId linear(ValueId x, const std::string& name, int64_t in, int64_t out, Init init, const ParamUse& use);
  void returns(ValueId value) { graph_.outputs.push_back(value); }

  Graph take_graph() { return std::move(graph_); }
  const std::vector<ParamSpec>& params() const { return params_; }

 private:
  const ModelSpec& spec_;
  std::string prefix_;
  Graph graph_;
  std::vector<ParamSpec> params_;  // names within the block
};

// How a family writes its blocks.
struct FamilyBlocks {
  BlockBuilder (*embed)(const ModelSpec& spec, const ModelInputs& inputs) = nullptr;
  BlockBuilder (*layer)(const ModelSpec& spec, const ModelInputs& inputs, LayerKind kind) = nullptr;
  BlockBuilder (*head)(const ModelSpec& spec, const ModelInputs& inputs) = nullptr;
};
FamilyBlocks gpt2_blocks();
FamilyBlocks llama_blocks();
FamilyBlocks deepseek_blocks();

// What all families share. x is an activation [B,T,C], qkv the heads [B,T,(H+2K)*D].
ValueId token_embedding(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs);
// The batch's explicit positions; none where a position is the index in the row.
ValueId explicit_positions(BlockBuilder& block, const ModelInputs& inputs);
ValueId qkv_projection(BlockBuilder& block, const ModelSpec& spec, ValueId x);
// Attention over the heads, [B,T,H*D]; score_scale stands beside 1 / sqrt(D).
ValueId attended_heads(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId qkv,
                       double score_scale = 1.0);
// Likewise, and its projection back to [B,T,C].
ValueId causal_attention(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId qkv);
// The hidden layer [B,T,F] of an MLP without a gate.
ValueId plain_hidden(BlockBuilder& block, const ModelSpec& spec, ValueId x);
// Sum of token losses of the normed activation x, with the weight of further targets (ops/head/head.h).
void token_loss(BlockBuilder& block, const ModelSpec& spec, ValueId x, ValueId targets,
                double further_weight);
// Loss or logits of the normed activation x[B,T,C]; the matrix is the embedding's when tied.
void output_head(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x);

}  // namespace trireme
