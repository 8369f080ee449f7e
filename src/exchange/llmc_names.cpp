// The tensors of an llm.c model file (llm.c/train_gpt2.cu, fill_in_parameter_sizes), in its order.
#include "exchange/map_builder.h"

namespace trireme {
namespace {

struct LayerTensor {
  const char *theirs, *ours;
};
// Each is stacked over the layers.
constexpr LayerTensor kLayerTensors[] = {
    {"ln1w", "attn_norm.weight"}, {"ln1b", "attn_norm.bias"},      {"qkvw", "attn.qkv.weight"},
    {"qkvb", "attn.qkv.bias"},    {"attprojw", "attn.out.weight"}, {"attprojb", "attn.out.bias"},
    {"ln2w", "mlp_norm.weight"},  {"ln2b", "mlp_norm.bias"},       {"fcw", "mlp.up.weight"},
    {"fcb", "mlp.up.bias"},       {"fcprojw", "mlp.down.weight"},  {"fcprojb", "mlp.down.bias"}};

}  // namespace

NameMap llmc_name_map(const ModelSpec& spec, int64_t padded_vocab) {
  MapBuilder map(spec);
  const int64_t embedding = spec.vocab * spec.width;
  map.piece("embed.weight", {.foreign = map.foreign("wte", {padded_vocab, spec.width}),
                             .rows = 1,
                             .cols = embedding,
                             .stride = embedding});
  map.whole("positions.weight", "wpe");
  for (const LayerTensor& tensor : kLayerTensors)
    for (int64_t n = 0; n < spec.layers; ++n) {
      const std::string ours = "layers." + std::to_string(n) + "." + tensor.ours;
      Shape stacked = map.shape(ours);
      const int64_t each = count(stacked);
      stacked.insert(stacked.begin(), spec.layers);
      map.piece(ours, {.foreign = map.foreign(tensor.theirs, stacked),
                       .rows = 1,
                       .cols = each,
                       .stride = each,
                       .foreign_begin = n * each});
    }
  map.whole("final_norm.weight", "lnfw");
  map.whole("final_norm.bias", "lnfb");
  return map.take();
}

}  // namespace trireme
