// A model's config.json as transformers reads it, v4 and v5 alike: the inverse of config/hf_config.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "config/model.h"

namespace trireme {

struct HfConfigText {
  std::string config;      // of config.json
  std::string generation;  // of generation_config.json
};

// UserError, with key, value and cure, for a model that computes what transformers' classes do not. What only
// training sees (z_loss, capacities, balancing) does not matter. `end_of_text` also begins a text.
HfConfigText hf_config_text(const ModelSpec& spec, DType dtype, std::optional<int64_t> end_of_text);

}  // namespace trireme
