// A whole config around a model that came without one: it evaluates and generates; to train on, a config of
// one's own names it in model.init_from.
#pragma once
#include <string>
#include <vector>

#include "config/run_spec.h"

namespace trireme {

// `model_toml`: the section [model], or "" where the overrides give it.
RunSpec stand_in_config(const std::string& model_toml, const std::vector<std::string>& overrides);

}  // namespace trireme
