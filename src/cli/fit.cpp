// `trireme fit`: bytes per parameter and per activation, and whether they fit.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "cli/overrides.h"
#include "hardware/catalog.h"
#include "plan/calculators/fit_report.h"
#include "plan/calculators/human_number.h"
#include "plan/plan.h"
#include "sim/simulate.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::optional<int64_t> ranks;
  std::optional<std::string> params, gpus, tp, seq, micro, width, layers, heads, recompute, optimizer,
      compute, device, memory;
  bool sequence = false;
  AnswerForm form = AnswerForm::text;
};

constexpr int64_t kMostDim = int64_t{1} << 32;

// Of one rank, whose share of the hardware is `share`; nullopt where neither option is given.
std::optional<DeviceMemory> read_memory(const Options& options, const std::optional<Hardware>& hardware,
                                        const RankShare& share) {
  if (options.memory) {
    const double bytes = read_bytes("--memory", *options.memory);
    return DeviceMemory{bytes, fmt::format("a device of {}", as_bytes(bytes))};
  }
  if (!hardware) return std::nullopt;
  const auto bytes = static_cast<double>(share.memory_bytes);
  return DeviceMemory{bytes,
                      fmt::format("{}: {} a rank, {} of it taken by drivers and libraries", hardware->device,
                                  as_bytes(bytes + static_cast<double>(hardware->overhead_bytes)),
                                  as_bytes(static_cast<double>(hardware->overhead_bytes))),
                      hardware->kind == DeviceClass::cpu};
}

// The fewest nodes that hold the ranks evenly.
int64_t nodes_for(const Hardware& hardware, int64_t ranks) {
  int64_t nodes = least_nodes(hardware, ranks);
  while (ranks % nodes != 0) ++nodes;
  return nodes;
}

ActivationShape read_shape(const Options& options, int64_t tp) {
  const auto read = [](const char* key, const std::optional<std::string>& text) {
    if (!text) fail_user("{} is missing: activations need --seq, --width, --layers and --heads", key);
    return read_whole(key, *text, kMostDim);
  };
  ActivationShape shape{.seq = read("--seq", options.seq),
                        .micro = options.micro ? read("--micro", options.micro) : 1,
                        .width = read("--width", options.width),
                        .layers = read("--layers", options.layers),
                        .heads = read("--heads", options.heads),
                        .tp = tp,
                        .sequence = options.sequence};
  if (shape.heads % tp != 0)
    fail_user("--tp {} does not divide --heads {}; use a divisor of {}", tp, shape.heads, shape.heads);
  return shape;
}

Answer by_numbers(const Options& options) {
  if (!options.params) fail_user("say which model: a CONFIG, or --params 7B");
  refuse_overrides(options.overrides);
  if (options.ranks)
    fail_user("--ranks {}: there is no CONFIG that it could spread; give --gpus", *options.ranks);
  const bool recompute = options.recompute == "full";
  FitNumbers input{.parameters = read_number("--params", *options.params),
                   .devices = options.gpus ? read_whole("--gpus", *options.gpus) : 1,
                   .tp = options.tp ? read_whole("--tp", *options.tp) : 1,
                   .saved = recompute ? Saved::inputs : Saved::no_scores};
  if (input.devices % input.tp != 0)
    fail_user("--tp {} does not divide --gpus {}; use a divisor of {}", input.tp, input.devices,
              input.devices);
  if (options.optimizer == "sgd") input.optimizer = OptimizerKind::sgd;
  if (options.compute == "fp32") input.compute = Compute::fp32;
  if (options.seq || options.micro || options.width || options.layers || options.heads)
    input.shape = read_shape(options, input.tp);
  else if (options.sequence || recompute)
    fail_user("{} is of activations, which need --seq, --width, --layers and --heads",
              options.sequence ? "--sequence" : "--recompute");
  std::optional<Hardware> hardware;
  RankShare share;
  if (options.device) {
    hardware = load_hardware(*options.device);
    const bool gpu = hardware->kind == DeviceClass::gpu;
    share = share_of(*hardware, gpu ? 1 : input.devices, 1);
  }
  input.memory = read_memory(options, hardware, share);
  return fit_numbers(input);
}

Answer of_config(const Options& options) {
  for (const auto& [key, given] : {std::pair{"--params", options.params},
                                   {"--gpus", options.gpus},
                                   {"--tp", options.tp},
                                   {"--seq", options.seq},
                                   {"--micro", options.micro},
                                   {"--width", options.width},
                                   {"--layers", options.layers},
                                   {"--heads", options.heads},
                                   {"--recompute", options.recompute},
                                   {"--optimizer", options.optimizer},
                                   {"--compute", options.compute}})
    if (given)
      fail_user("{} {}: {} says that already; change it with --set, or leave out the CONFIG", key, *given,
                options.config);
  if (options.sequence)
    fail_user("--sequence: {} says that already; change it with --set, or leave out the CONFIG",
              options.config);
  const RunSpec spec = load_config(options.config, options.overrides, options.ranks);
  CompileOptions compiling;
  compiling.weights = WeightForm::plain;
  std::optional<Hardware> hardware;
  RankShare share;
  if (options.device) {
    hardware = load_hardware(*options.device);
    const Cluster cluster = cluster_of(*hardware, all_ranks(spec), nodes_for(*hardware, all_ranks(spec)));
    share = cluster.share;
    compiling = compile_options(spec, cluster);
  }
  return fit_config(spec, compiling, read_memory(options, hardware, share));
}

int run(const Options& options) {
  if (options.device && options.memory) fail_user("--device and --memory both say the memory; give one");
  print_answer(options.config.empty() ? by_numbers(options) : of_config(options), options.form);
  return 0;
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "fit", "Memory: bytes of state at each ZeRO stage, of activations, and whether they fit");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config, "TOML file, whose plan is shown; or give --params");
  command->add_option("--params", options->params, "parameters, as 7B");
  command->add_option("--gpus", options->gpus, "devices: tensor x data parallel [1]");
  command->add_option("--tp", options->tp, "of them tensor parallel [1]");
  command->add_option("--seq", options->seq, "s, tokens of a sequence");
  command->add_option("--micro", options->micro, "b, sequences of a micro-batch [1]");
  command->add_option("--width", options->width, "h");
  command->add_option("--layers", options->layers, "L");
  command->add_option("--heads", options->heads, "a");
  command->add_flag("--sequence", options->sequence, "sequence parallel over the tp ranks");
  command->add_option("--recompute", options->recompute, "none (scores are never kept) or full [none]")
      ->check(CLI::IsMember({"none", "full"}));
  command->add_option("--optimizer", options->optimizer, "adamw or sgd [adamw]")
      ->check(CLI::IsMember({"adamw", "sgd"}));
  command->add_option("--compute", options->compute, "bf16 or fp32 [bf16]")
      ->check(CLI::IsMember({"bf16", "fp32"}));
  command->add_option("--device", options->device,
                      "must it fit: what Trireme knows, as h100-sxm, or a hardware file");
  command->add_option("--memory", options->memory, "or so much a device, as 80GB");
  add_overrides(*command, options->overrides);
  add_ranks(*command, options->ranks);
  add_json(*command, options->form);
  command->footer(
      "Example: trireme fit --params 7B --gpus 8 --seq 4096 --width 4096 --layers 32 --heads 32 --device "
      "h100-sxm\n"
      "         trireme fit configs/gpt2-124m.toml --memory 24GB");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
