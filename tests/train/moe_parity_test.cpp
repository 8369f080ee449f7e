// PyTorch agrees on models with experts: losses, choices of the routers and gradients of one pass through
// small Mixtral, Qwen3-MoE and DeepSeek-V3 stacks. The goldens: tests/golden/torch/make_moe_goldens.py.
#include <gtest/gtest.h>

#include <cmath>

#include "config/run_spec.h"
#include "device/cpu/cpu_device.h"
#include "train/chain_run.h"
#include "train/torch_golden.h"

namespace trireme {
namespace {

using nlohmann::json;

constexpr int64_t kT = 64, kRows = 2;

ModelSpec spec_of(const json& golden) {
  std::string text;
  for (const char* section : {"model", "moe"}) {
    text += std::string("[") + section + "]\n";
    for (const auto& [key, value] : golden[section].items()) text += key + " = " + toml_value(value) + "\n";
  }
  text += "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 2\n[optimizer]\nlr = 1e-3\n";
  return parse_config(text + "[run]\nname = \"golden\"\nsteps = 1\n", "golden").model;
}

// Of a router's state the script draws the bias, where there is one; all else is 0.
std::vector<float> drawn(const ParamSpec& param, const ModelSpec& spec) {
  std::vector<float> values = golden_weights(param);
  if (param.use.role == ParamRole::router_state) {
    const int64_t kept = spec.moe.score == RouterScore::sigmoid ? spec.moe.experts : 0;
    std::fill(values.begin() + kept, values.end(), 0.0f);
  }
  return values;
}

// "02 13" as the golden has it.
std::string digits(const std::vector<int32_t>& ids, size_t top_k) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0 && i % top_k == 0) text += ' ';
    text += std::to_string(ids[i]);
  }
  return text;
}

// Values of a layer by the prefix of its parameters: those of the further token's are in the head.
struct Place {
  std::string block, prefix;
};
Place place_of(const std::string& prefix) {
  if (prefix == "mtp.") return {"head", prefix};
  return {prefix.substr(0, prefix.size() - 1), ""};
}

void compare_router(const ChainRun& run, const ModelSpec& spec, const std::string& layer,
                    const json& golden) {
  const Place place = place_of(layer);
  const auto k = static_cast<size_t>(spec.moe.top_k);
  EXPECT_EQ(digits(run.ints(place.block, place.prefix + "moe.ids"), k), golden["ids"].get<std::string>())
      << layer;
  const std::vector<float> weights = run.floats(place.block, place.prefix + "moe.weights");
  const json& expected = golden["weights"];
  ASSERT_EQ(expected.size() * 8, weights.size());
  for (size_t n = 0; n < expected.size(); ++n)
    EXPECT_NEAR(weights[n / k * 8 * k + n % k], expected[n].get<double>(), 1e-5) << layer;
}

void compare_gradients(const ChainRun& run, const Model& model, const json& tensors) {
  constexpr double kTolerance = 2e-5;  // of a tensor's rms
  size_t compared = 0;
  for (const ParamSpec& param : model.params) {
    if (param.use.role == ParamRole::router_state) continue;
    ASSERT_TRUE(tensors.contains(param.name)) << param.name;
    ++compared;
    const json& expected = tensors[param.name];
    const std::vector<float> values = run.gradient(param.name);
    const double squares = expected["sum_squares"].get<double>();
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    double ours = 0;
    for (const float v : values) ours += static_cast<double>(v) * v;
    EXPECT_NEAR(ours / squares, 1, kTolerance) << param.name;
    const size_t stride = std::max<size_t>(1, values.size() / 16);
    for (size_t n = 0; n < expected["samples"].size(); ++n)
      EXPECT_NEAR(values[n * stride], expected["samples"][n].get<double>(), kTolerance * rms)
          << param.name << " sample " << n;
  }
  EXPECT_EQ(compared, tensors.size());
}

// The load that the routers counted is what they chose.
void compare_load(const ChainRun& run, const ModelSpec& spec, const std::string& layer) {
  const Place place = place_of(layer);
  std::vector<float> expected(static_cast<size_t>(2 * spec.moe.experts));
  for (const int32_t id : run.ints(place.block, place.prefix + "moe.ids"))
    ++expected[static_cast<size_t>(id)];
  EXPECT_EQ(run.gradient(layer + "moe.balance"), expected);
}

void expect_agreement(const std::string& name) {
  const json golden = load_golden(name);
  const ModelSpec spec = spec_of(golden);
  const Model model = build_model(spec, {.batch = kRows, .seq_len = kT});
  const std::unique_ptr<Device> device = make_cpu_device({.threads = 2});
  ChainRun run(model, *device);
  for (const ParamSpec& param : model.params) run.set_param(param.name, drawn(param, spec));
  const GoldenRows rows = golden_rows(golden["first"].get<int64_t>(), kRows, kT, spec.vocab);
  run.set_batch("tokens", rows.tokens);
  run.set_batch("targets", rows.targets);
  run.forward();
  EXPECT_NEAR(run.loss() / golden["loss"].get<double>(), 1, 1e-6);
  for (const auto& [layer, choice] : golden["router"].items()) compare_router(run, spec, layer, choice);
  run.backward();
  compare_gradients(run, model, golden["tensors"]);
  for (const auto& [layer, choice] : golden["router"].items()) compare_load(run, spec, layer);
}

TEST(MoeParity, Mixtral) { expect_agreement("mixtral"); }
TEST(MoeParity, Qwen3Moe) { expect_agreement("qwen3_moe"); }
TEST(MoeParity, DeepseekV3) { expect_agreement("deepseek"); }
TEST(MoeParity, DeepseekV3WithAFurtherToken) { expect_agreement("deepseek_mtp"); }

}  // namespace
}  // namespace trireme
