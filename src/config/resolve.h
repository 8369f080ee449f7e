// RawConfig to RunSpec, the only way in: gives defaults, derives what was left to choose, and checks
// everything against everything. Pure: the same input gives the same spec, on every machine.
#pragma once
#include <optional>

#include "config/raw_config.h"
#include "config/run_spec.h"

namespace trireme {

// `hf` is the shape read from raw.model.hf (config/hf_config.h), present exactly when that key is.
// UserError for whatever cannot run, with the place, the numbers and the cure.
RunSpec resolve(RawConfig raw, const std::optional<RawModel>& hf = std::nullopt);

}  // namespace trireme
