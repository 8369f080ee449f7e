// config.json as a config of ours.
#include <algorithm>

#include "exchange/hf_folder.h"
#include "exchange/stand_in_config.h"

namespace trireme {

std::vector<std::string> hf_overrides(const std::string& folder, const ForeignTensors& tensors) {
  const std::vector<std::string> as_said = {"model.hf=" + folder + "/config.json"};
  const ModelSpec model = stand_in_config("", as_said).model;
  if (model.mtp == 0) return as_said;
  const std::string further = "model.layers." + std::to_string(model.layers) + ".";
  const bool there = std::ranges::any_of(
      tensors.tensors, [&](const auto& tensor) { return tensor.first.starts_with(further); });
  if (there) return as_said;
  return {as_said[0], "model.mtp=0"};
}

RunSpec hf_spec(const std::string& folder, const ForeignTensors& tensors) {
  return stand_in_config("", hf_overrides(folder, tensors));
}

}  // namespace trireme
