// Options to FLOPs per token.
#include "cli/model_options.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/overrides.h"
#include "plan/calculators/human_number.h"

namespace trireme::cli {
namespace {

ModelSizes read_sizes(const ModelOptions& options) {
  ModelSizes sizes;
  if (options.active) sizes.symbol = "N_active";
  sizes.parameters =
      options.active ? read_number("--active", *options.active) : read_number("--params", *options.params);
  const int shape = (options.layers ? 1 : 0) + (options.width ? 1 : 0) + (options.seq ? 1 : 0);
  if (shape == 0) return sizes;
  if (shape < 3)
    fail_user("--layers, --width and --seq go together: attention's FLOPs are 12 * L * d * T a token");
  constexpr int64_t kMost = int64_t{1} << 32;
  sizes.layers = read_whole("--layers", *options.layers, kMost);
  sizes.width = read_whole("--width", *options.width, kMost);
  sizes.seq = read_whole("--seq", *options.seq, kMost);
  return sizes;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("CONFIG", options.config, "TOML file; or give --params");
  command.add_option("--params", options.params, "parameters, as 7B");
  command.add_option("--active", options.active,
                     "of a mixture of experts: parameters that a token uses, as 13B");
  command.add_option("--layers", options.layers, "L, for attention's FLOPs");
  command.add_option("--width", options.width, "d, the width of all heads together");
  command.add_option("--seq", options.seq, "T, tokens of a sequence");
  add_overrides(command, options.overrides);
}

GivenModel read_model(const ModelOptions& options) {
  const bool numbers = options.params || options.active || options.layers || options.width || options.seq;
  GivenModel model;
  if (!options.config.empty()) {
    if (numbers)
      fail_user("{} and numbers (--params, --active, --layers, --width, --seq) both say the model; give one",
                options.config);
    model.spec = load_config(options.config, options.overrides);
    model.flops = token_flops(*model.spec);
    return model;
  }
  refuse_overrides(options.overrides);
  if (!options.params && !options.active) fail_user("say which model: a CONFIG, or --params 7B");
  const ModelSizes sizes = read_sizes(options);
  if (options.params && sizes.parameters > read_number("--params", *options.params))
    fail_user("--active {}: more than all parameters, --params {}", *options.active, *options.params);
  model.flops = token_flops(sizes);
  return model;
}

}  // namespace trireme::cli
