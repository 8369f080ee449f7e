// Published model shapes by name, for model.preset.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/model.h"

namespace trireme {

// The keys that a preset sets, or nothing when there is no such preset.
std::optional<RawModel> model_preset(const std::string& name);
std::vector<std::string> preset_names();

}  // namespace trireme
