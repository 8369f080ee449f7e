// PyTorch agrees: small models trained for ten AdamW steps by PyTorch and by the compiled program, from the
// same weights on the same batches. The goldens and how both sides draw weights and tokens:
// tests/golden/torch/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "train/lr.h"
#include "train/optimizer_step.h"
#include "train/torch_golden.h"

namespace trireme {
namespace {

using nlohmann::json;

RunSpec spec_of(const json& model, const json& optimizer, const std::string& compute) {
  std::string text = "[model]\n";
  for (const auto& [key, value] : model.items()) text += key + " = " + toml_value(value) + "\n";
  text += "[optimizer]\n";
  for (const char* key : {"lr", "beta1", "beta2", "eps", "weight_decay", "clip_norm"})
    text += std::string(key) + " = " + optimizer[key].dump() + "\n";
  text += "[lr]\nkind = \"cosine\"\n";
  for (const char* key : {"warmup_steps", "min_ratio", "decay_steps"})
    text += std::string(key) + " = " + optimizer[key].dump() + "\n";
  text += "[data]\ntrain = [\"unused.bin\"]\nseq_len = 64\n[batch]\nsequences = 4\nmicro = 2\n";
  text += "[precision]\ncompute = \"" + compute + "\"\n[run]\nname = \"golden\"\nsteps = 1000\n";
  return parse_config(text, "golden");
}

void draw_weights(Engine& engine, const Model& model) {
  for (size_t i = 0; i < model.params.size(); ++i) {
    std::vector<float> values = golden_weights(model.params[i]);
    const ParamId id(static_cast<int64_t>(i));
    engine.write_state(id, ParamState::master, values);
    std::fill(values.begin(), values.end(), 0.0f);
    engine.write_state(id, ParamState::moment1, values);
    engine.write_state(id, ParamState::moment2, values);
  }
}

constexpr int64_t kT = 64, kRows = 4;  // of a step

// Targets of the second row from 40 on are ignored where `masked`.
GoldenRows rows_of_step(int64_t step, int64_t vocab, bool masked) {
  GoldenRows rows = golden_rows(step * kRows, kRows, kT, vocab);
  if (masked) std::fill(rows.targets.begin() + kT + 40, rows.targets.begin() + 2 * kT, -1);
  return rows;
}

struct Run {
  explicit Run(const RunSpec& run_spec)
      : spec(run_spec),
        compiled(compile(spec, {.threads = 2})),
        device(make_cpu_device({.threads = 2})),
        engine(compiled.program, *device) {
    draw_weights(engine, compiled.model);
  }

  StepOutcome step(int64_t index, bool masked) {
    const GoldenRows rows = rows_of_step(index, spec.model.vocab, masked);
    std::vector<BatchArrays> batches;
    for (size_t m = 0; m < 2; ++m) {
      BatchArrays arrays;
      for (const BatchField& field : compiled.program.batch)
        arrays.push_back((field.name == "tokens" ? rows.tokens : rows.targets).data() + m * 2 * kT);
      batches.push_back(arrays);
    }
    const auto counted = static_cast<int64_t>(rows.targets.size()) - std::ranges::count(rows.targets, -1);
    return run_optimizer_step(engine, spec.optimizer,
                              {learning_rate(spec.lr, spec.optimizer.lr, index), index + 1, counted},
                              batches);
  }

  RunSpec spec;
  Compiled compiled;
  std::unique_ptr<Device> device;
  Engine engine;
};

// |a - b| relative to b.
double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

void compare_weights(Run& run, const json& golden, double tolerance) {
  for (size_t i = 0; i < run.compiled.model.params.size(); ++i) {
    const ParamSpec& param = run.compiled.model.params[i];
    const json& expected = golden["tensors"][param.name];
    std::vector<float> values(static_cast<size_t>(count(param.shape)));
    run.engine.read_state(ParamId(static_cast<int64_t>(i)), ParamState::master, values);
    if (expected.contains("rows_left_out")) {  // key biases: see the golden's script
      const auto begin = expected["rows_left_out"][0].get<int64_t>(),
                 end = expected["rows_left_out"][1].get<int64_t>();
      values.erase(values.begin() + begin, values.begin() + end);
    }
    double squares = 0;
    for (const float v : values) squares += static_cast<double>(v) * v;
    const double rms = std::sqrt(squares / static_cast<double>(values.size()));
    EXPECT_LT(relative(squares, expected["sum_squares"].get<double>()), 2 * tolerance) << param.name;
    const json& samples = expected["samples"];
    const size_t stride = std::max<size_t>(1, values.size() / 16);
    for (size_t n = 0; n < samples.size(); ++n)
      EXPECT_NEAR(values[n * stride], samples[n].get<double>(), tolerance * rms)
          << param.name << " sample " << n;
  }
}

// The issue asks for 1e-5. Where f32's own error against f64, which the golden states, is of that order, two
// correct programs may differ by its double.
double allowed(const json& golden, const char* what) {
  return std::max(1e-5, 2 * golden["noise"][what].get<double>());
}

void expect_agreement(const std::string& name) {
  const json golden = load_golden(name);
  Run run(spec_of(golden["model"], golden["optimizer"], "fp32"));
  const bool masked = golden["batch"]["masked"].get<bool>();
  for (size_t s = 0; s < golden["loss"].size(); ++s) {
    const StepOutcome outcome = run.step(static_cast<int64_t>(s), masked);
    EXPECT_LT(relative(outcome.loss, golden["loss"][s].get<double>()), allowed(golden, "loss"))
        << "step " << s;
    EXPECT_LT(relative(outcome.grad_norm, golden["grad_norm"][s].get<double>()), allowed(golden, "grad_norm"))
        << "step " << s;
  }
  compare_weights(run, golden, allowed(golden, "weights"));
}

TEST(TorchParity, Gpt2) { expect_agreement("gpt2"); }
TEST(TorchParity, Gpt2WithIgnoredTargets) { expect_agreement("gpt2_masked"); }
TEST(TorchParity, Llama) { expect_agreement("llama"); }

// In bf16 the curve stays as near to PyTorch's f32 curve as PyTorch's own bf16 runs do: the mean distance
// over a hundred steps, at most 1.5 times that of the farthest of them.
void expect_bf16_within_noise(const std::string& name) {
  const json golden = load_golden(name + "_bf16");
  const json model = load_golden(name)["model"];
  Run run(spec_of(model, golden["optimizer"], "bf16"));
  const std::vector<double> exact = golden["f32"].get<std::vector<double>>();
  const auto distance = [&](const std::vector<double>& curve) {
    double sum = 0;
    for (size_t s = 0; s < exact.size(); ++s) sum += std::abs(curve[s] - exact[s]);
    return sum / static_cast<double>(exact.size());
  };
  double noise = 0;
  for (const json& curve : golden["bf16"])
    noise = std::max(noise, distance(curve.get<std::vector<double>>()));
  std::vector<double> ours;
  for (size_t s = 0; s < exact.size(); ++s) ours.push_back(run.step(static_cast<int64_t>(s), false).loss);
  EXPECT_LT(distance(ours), 1.5 * noise) << "noise " << noise;
}

TEST(TorchParity, Gpt2InBf16) { expect_bf16_within_noise("gpt2"); }
TEST(TorchParity, LlamaInBf16) { expect_bf16_within_noise("llama"); }

}  // namespace
}  // namespace trireme
