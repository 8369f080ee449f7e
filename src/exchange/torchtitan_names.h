// torchtitan's checkpoints of a Llama have Meta's names (layers.0.attention.wq.weight, ...; torchtitan's
// models/llama3/model), at the top or under `model.`. Here they are told from others and the prefix goes, so
// that meta_name_map reads them.
#pragma once
#include "config/model.h"
#include "exchange/foreign_tensors.h"

namespace trireme {

struct TorchtitanWeights {
  ForeignTensors tensors;
  // How the rows of each head of wq and wk pair up for rotation: torchtitan rotates neighbours, where Hugging
  // Face's files of the same model have half a head between them.
  RopeLayout rope_layout = RopeLayout::interleaved;
};

bool has_torchtitan_names(const ForeignTensors& tensors);

// UserError for the names of a model whose layout of wq and wk cannot be told (norms of heads: torchtitan's
// Qwen3), and where a name stands with the prefix and without. Names that are not torchtitan's stay.
TorchtitanWeights rename_torchtitan(ForeignTensors tensors);

}  // namespace trireme
