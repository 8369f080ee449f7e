// A model is a chain of blocks: the embedding, the layers, the head. Equal blocks share a Graph, and every
// Graph is written for one device: nothing here knows of ranks, devices or schedules. A family is a file.
#pragma once
#include <string>
#include <vector>

#include "config/model.h"
#include "ir/graph.h"
#include "ir/param_cut.h"

namespace trireme {

struct RunSpec;

// A parameter of the whole model. Names, as checkpoints have them: embed.weight, positions.weight,
// layers.N.attn_norm.weight, layers.N.attn.qkv.weight (rows: q heads, k heads, v heads),
// layers.N.attn.out.weight, layers.N.mlp_norm.weight, layers.N.mlp.up.weight or layers.N.mlp.gate_up.weight
// (rows: gate, up), layers.N.mlp.down.weight, final_norm.weight, head.weight; biases likewise. Matrices are
// [out, in]. Of layers with experts: layers.N.moe.router.weight [E,C], layers.N.moe.balance [2,E],
// layers.N.moe.experts.gate_up.weight [E,2F,C], layers.N.moe.experts.down.weight [E,C,F] and
// layers.N.moe.shared.gate_up.weight, layers.N.moe.shared.down.weight. Of latent attention, under
// layers.N.attn: q_down, q_norm, q_up or q alone, kv_down, kv_norm, kv_up, k_rope, out.
struct ParamSpec {
  std::string name;
  Shape shape;
  ParamUse use;
  bool decay = false;  // weight decay: matrices and embeddings only
  float init_mean = 0.0f;
  float init_std = 0.0f;
};

struct ModelBlock {
  std::string name;             // "embed", "layers.3", "head"
  int32_t graph = 0;            // in Model::graphs
  std::vector<int32_t> params;  // in Model::params, in the order of the graph's values of role param
};

struct Model {
  std::vector<Graph> graphs;
  std::vector<ModelBlock> blocks;
  std::vector<ParamSpec> params;  // in the order of the blocks; a tied one stands once
};

// A layer's feed-forward part: one, or a choice of experts.
enum class LayerKind : uint8_t { dense, moe };
LayerKind layer_kind(const ModelSpec& spec, int64_t layer);

enum class HeadResult : uint8_t { loss, logits };  // logits: of the last position, for generation

// The fixed extents of one micro-batch and which batch values there are besides tokens.
struct ModelInputs {
  int64_t batch = 1;       // B
  int64_t seq_len = 1;     // T
  bool positions = false;  // explicit positions i32[B,T]; otherwise position = index in the row
  bool doc_start = false;  // attention stops at document boundaries
  HeadResult head = HeadResult::loss;
};

// The spec must be resolved. All values are f32 here; the precision pass chooses the compute dtype.
Model build_model(const ModelSpec& spec, const ModelInputs& inputs);
// Of a config, with the extents of its micro-batches: what parameters and FLOPs are counted from.
Model whole_model(const RunSpec& spec);

// Without the routers' state, which nothing trains.
int64_t parameter_count(const Model& model);

}  // namespace trireme
