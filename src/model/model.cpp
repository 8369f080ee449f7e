// The chain of blocks from a family's three kinds.
#include "model/model.h"

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

}  // namespace

Model build_model(const ModelSpec& spec, const ModelInputs& inputs) {
  BlockKinds kinds = spec.family == Family::gpt2 ? gpt2_blocks(spec, inputs) : llama_blocks(spec, inputs);
  Model model;
  add_block(model, "embed", 0, "", kinds.embed.params());
  for (int64_t layer = 0; layer < spec.layers; ++layer) {
    const std::string name = "layers." + std::to_string(layer);
    add_block(model, name, 1, name + ".", kinds.layer.params());
  }
  add_block(model, "head", 2, "", kinds.head.params());
  for (BlockBuilder* kind : {&kinds.embed, &kinds.layer, &kinds.head})
    model.graphs.push_back(kind->take_graph());
  return model;
}

int64_t parameter_count(const Model& model) {
  int64_t n = 0;
  for (const ParamSpec& param : model.params) n += count(param.shape);
  return n;
}

}  // namespace trireme
