// Which elements of our parameters are which elements of another project's tensors, as data. Reading and
// writing walk the same map, so what is written reads back as it was. A family is a file (hf_names_*.cpp,
// llmc_names.cpp, meta_names.cpp).
//
//   layers.0.attn.qkv.weight [q + 2 kv, C]  rows 0 .. q        model.layers.0.self_attn.q_proj.weight
//                                           rows q .. q + kv   model.layers.0.self_attn.k_proj.weight  ...
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/model.h"
#include "model/model.h"

namespace trireme {

enum class ForeignUse : uint8_t {
  part,      // has elements that no other tensor has: must be there
  copy,      // repeats a part: written; may be absent when read, else it must be equal
  accepted,  // the same, but not written
};

struct ForeignParam {
  std::string name;
  Shape shape;
  ForeignUse use = ForeignUse::part;
  bool always_f32 = false;  // whatever the others are written as
};

// Another order of the rows of each group of `period`: of the `dims` from `first` on, pairs stand side by
// side in one project (interleaved) and half of `dims` apart in the other (rope_layout).
struct PairOrder {
  int64_t period = 0;  // 0: the rows stand as they are
  int64_t first = 0, dims = 0;
  RopeLayout ours = RopeLayout::half;  // the other project has the other layout
};
int64_t foreign_row(const PairOrder& order, int64_t row);

// A matrix of elements. (r, c) is element begin + r * stride + c of our parameter, and element
// foreign_begin + foreign_row(order, r) * foreign_row_step + c * foreign_col_step of the other tensor.
struct MapPiece {
  size_t ours = 0, foreign = 0;  // in NameMap
  int64_t rows = 0, cols = 0;
  int64_t begin = 0, stride = 0;
  int64_t foreign_begin = 0, foreign_row_step = 0, foreign_col_step = 1;
  PairOrder order;
};

// Elements of ours that no piece has are 0 when read (a router's load; what no other project keeps), and
// such elements of the other's are 0 when written (rows that pad a vocabulary).
struct NameMap {
  std::vector<ParamSpec> params;
  std::vector<ForeignParam> foreign;
  std::vector<MapPiece> pieces;  // in the order of `params`
};

// The names of transformers' GPT-2, Llama, Qwen3, Mixtral, Qwen3-MoE and DeepSeek-V3. `rotary` is how their
// files pair the rotated dims: half, but for DeepSeek-V3, whose config.json says it. UserError for a model
// that none of them is.
NameMap hf_name_map(const ModelSpec& spec, RopeLayout rotary);

// llm.c's GPT-2: 16 tensors stacked over layers, the vocabulary padded to `padded_vocab` rows.
NameMap llmc_name_map(const ModelSpec& spec, int64_t padded_vocab);

// Meta's names of a Llama (tok_embeddings, layers.0.attention.wq, ...), which torchtitan's checkpoints have;
// rotated dims interleaved. UserError for another model.
NameMap meta_name_map(const ModelSpec& spec);

}  // namespace trireme
