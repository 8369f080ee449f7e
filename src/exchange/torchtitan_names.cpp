// Known by tok_embeddings.weight, which no other project calls so.
#include "exchange/torchtitan_names.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr std::string_view kPrefix = "model.";
constexpr std::string_view kEmbedding = "tok_embeddings.weight";

std::string without_prefix(const std::string& name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

}  // namespace

bool has_torchtitan_names(const ForeignTensors& tensors) {
  return std::ranges::any_of(tensors.tensors, [](const auto& tensor) {
    return tensor.first == kEmbedding || tensor.first.ends_with("." + std::string(kEmbedding));
  });
}

TorchtitanWeights rename_torchtitan(ForeignTensors tensors) {
  TorchtitanWeights weights{.tensors = {.from = tensors.from, .files = std::move(tensors.files)}};
  for (auto& [name, tensor] : tensors.tensors) {
    if (name.ends_with(".attention.q_norm.weight"))
      fail_user(
          "{}: {} is of no Llama: torchtitan's models with norms of heads rotate in other ways; convert it "
          "with "
          "torchtitan to a Hugging Face folder",
          tensors.from, name);
    const std::string renamed = without_prefix(name);
    if (!weights.tensors.tensors.emplace(renamed, std::move(tensor)).second)
      fail_user("{}: {} stands twice, with model. in front and without; keep one", tensors.from, renamed);
  }
  return weights;
}

}  // namespace trireme
