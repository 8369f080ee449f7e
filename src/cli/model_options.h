// The options of calculators that need a model's FLOPs: a CONFIG, or --params and perhaps its shape.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "config/run_spec.h"
#include "plan/calculators/token_flops.h"

namespace trireme::cli {

struct ModelOptions {
  std::string config;  // "": by numbers
  std::vector<std::string> overrides;
  std::optional<std::string> params, active, layers, width, seq;
};

void add_model_options(CLI::App& command, ModelOptions& options);

// What the options say. UserError when they say too little or two things.
struct GivenModel {
  std::optional<RunSpec> spec;  // of a CONFIG
  TokenFlops flops;
};
GivenModel read_model(const ModelOptions& options);

}  // namespace trireme::cli
