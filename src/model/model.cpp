// The chain of blocks from a family's kinds of block.
#include "model/model.h"

#include <array>
#include <optional>

#include "base/error.h"
#include "config/run_spec.h"
#include "model/block_builder.h"

namespace trireme {
namespace {

// Parameters named alike are one parameter: that is how a head is tied to its embedding.
int32_t find_or_add(Model& model, ParamSpec param) {
  for (size_t i = 0; i < model.params.size(); ++i)
    if (model.params[i].name == param.name) return static_cast<int32_t>(i);
  model.params.push_back(std::move(param));
  return static_cast<int32_t>(model.params.size()) - 1;
}

void add_block(Model& model, const std::string& name, int32_t graph, const std::string& prefix,
               const std::vector<ParamSpec>& params) {
  ModelBlock block{name, graph, {}};
  for (ParamSpec param : params) {
    param.name = prefix + param.name;
    // Only the head looks back, at the embedding; layers' names are new by construction.
    if (prefix.empty()) {
      block.params.push_back(find_or_add(model, std::move(param)));
    } else {
      block.params.push_back(static_cast<int32_t>(model.params.size()));
      model.params.push_back(std::move(param));
    }
  }
  model.blocks.push_back(std::move(block));
}

FamilyBlocks blocks_of(Family family) {
  switch (family) {
    case Family::gpt2:
      return gpt2_blocks();
    case Family::llama:
      return llama_blocks();
    case Family::deepseek:
      return deepseek_blocks();
  }
  CHECK(false, "family {}", static_cast<int>(family));
}

int32_t add_graph(Model& model, BlockBuilder& block) {
  model.graphs.push_back(block.take_graph());
  return static_cast<int32_t>(model.graphs.size()) - 1;
}

// A graph per kind of layer, in the order in which they first occur.
class LayerGraphs {
 public:
  LayerGraphs(const FamilyBlocks& family, const ModelSpec& spec, const ModelInputs& inputs)
      : family_(family), spec_(spec), inputs_(inputs) {}

  void add_layer(Model& model, int64_t layer) {
    const LayerKind kind = layer_kind(spec_, layer);
    std::optional<Made>& made = made_[static_cast<size_t>(kind)];
    if (!made) {
      BlockBuilder block = family_.layer(spec_, inputs_, kind);
      made = Made{add_graph(model, block), block.params()};
    }
    const std::string name = "layers." + std::to_string(layer);
    add_block(model, name, made->graph, name + ".", made->params);
  }

 private:
  struct Made {
    int32_t graph = 0;
    std::vector<ParamSpec> params;
  };
  FamilyBlocks family_;
  const ModelSpec& spec_;
  const ModelInputs& inputs_;
  std::array<std::optional<Made>, 2> made_;
};

}  // namespace

LayerKind layer_kind(const ModelSpec& spec, int64_t layer) {
  const MoeSpec& moe = spec.moe;
  if (moe.experts == 0 || layer < moe.first_dense) return LayerKind::dense;
  return (layer - moe.first_dense + 1) % moe.every == 0 ? LayerKind::moe : LayerKind::dense;
}

Model build_model(const ModelSpec& spec, const ModelInputs& inputs) {
  const FamilyBlocks family = blocks_of(spec.family);
  Model model;
  BlockBuilder embed = family.embed(spec, inputs);
  add_block(model, "embed", add_graph(model, embed), "", embed.params());
  LayerGraphs layers(family, spec, inputs);
  for (int64_t layer = 0; layer < spec.layers; ++layer) layers.add_layer(model, layer);
  BlockBuilder head = family.head(spec, inputs);
  add_block(model, "head", add_graph(model, head), "", head.params());
  return model;
}

Model whole_model(const RunSpec& spec) {
  return build_model(spec.model, {.batch = spec.batch.micro, .seq_len = spec.data.seq_len});
}

int64_t parameter_count(const Model& model) {
  int64_t n = 0;
  for (const ParamSpec& param : model.params)
    if (param.use.role != ParamRole::router_state) n += count(param.shape);
  return n;
}

}  // namespace trireme
