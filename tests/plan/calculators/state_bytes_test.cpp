// The paper's numbers, and the engine's against what its Programs hold.
#include "plan/calculators/state_bytes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/compile.h"

namespace trireme {
namespace {

TEST(StateBytes, OfThePaper) {
  const StateBytes state = published_state();
  EXPECT_EQ(state.total(), 16);
  EXPECT_EQ(7e9 * bytes_per_parameter(state, 0, 8), 112e9);
  EXPECT_EQ(7e9 * bytes_per_parameter(state, 3, 8), 14e9);
  const double n = 8;
  EXPECT_EQ(bytes_per_parameter(state, 1, 8), 4 + 12 / n);
  EXPECT_EQ(bytes_per_parameter(state, 2, 8), 2 + 14 / n);
  EXPECT_EQ(bytes_per_parameter(state, 3, 8), 16 / n);
  EXPECT_NEAR(16 / bytes_per_parameter(state, 1, 8), 2.9, 0.05);
  EXPECT_NEAR(16 / bytes_per_parameter(state, 2, 8), 4.3, 0.05);
  EXPECT_EQ(16 / bytes_per_parameter(state, 3, 8), 8);
}

TEST(StateBytes, FormulasHaveTheirNumbers) {
  EXPECT_EQ(state_formula(published_state(), 0, 8).symbols, "");
  EXPECT_EQ(state_formula(published_state(), 1, 8).symbols, "4 + 12/N");
  EXPECT_EQ(state_formula(published_state(), 2, 8).numbers, "2 + 14/8");
  EXPECT_EQ(state_formula(published_state(), 3, 64).numbers, "16/64");
}

struct Held {
  int64_t elements = 0;
  int64_t looked_up = 0;  // of an embedding that a whole master copy serves
  StateBytes bytes;
};

// One micro-batch and an untied head, so that every group has one gradient; weights that are not packed, so
// that each has one compute copy.
Held held_by_program(OptimizerKind optimizer, Compute compute, int zero) {
  const std::string text = fmt::format(R"(
[model]
family = "llama"
layers = 2
width = 64
heads = 4
ffn = 128
vocab = 256
context = 32
tie_embeddings = false
[data]
train = ["none"]
seq_len = 32
[batch]
sequences = 4
micro = 1
[optimizer]
kind = "{}"
lr = 1e-3
[precision]
compute = "{}"
[parallel]
dp_shard = 4
zero = {}
[run]
name = "state"
steps = 1
)",
                                       optimizer == OptimizerKind::sgd ? "sgd" : "adamw",
                                       compute == Compute::fp32 ? "fp32" : "bf16", zero);
  CompileOptions options;
  options.weights = WeightForm::plain;
  const Program program = compile(parse_config(text, "state"), options).program;
  Held held;
  for (const ParamGroup& group : program.groups) {
    held.elements += group.elements;
    if (group.name == "embed" && zero == 0 && compute == Compute::bf16) held.looked_up += group.elements;
  }
  for (const Buffer& buffer : program.memory.buffers) {
    const auto bytes = static_cast<double>(buffer.bytes);
    if (buffer.cls == BufferClass::master) held.bytes.master += bytes;
    if (buffer.cls == BufferClass::moment) held.bytes.moments += bytes;
    if (buffer.cls == BufferClass::gradient) held.bytes.gradient += bytes;
    if (buffer.cls == BufferClass::compute) held.bytes.compute_copy += bytes;
  }
  return held;
}

TEST(StateBytes, OfTheEngineAreWhatItsProgramsHold) {
  EXPECT_EQ(engine_state(OptimizerKind::adamw, Compute::bf16).total(), 18);
  EXPECT_EQ(engine_state(OptimizerKind::sgd, Compute::bf16).total(), 14);
  EXPECT_EQ(engine_state(OptimizerKind::adamw, Compute::fp32).total(), 16);
  for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::sgd})
    for (const Compute compute : {Compute::bf16, Compute::fp32})
      for (int zero = 0; zero < kZeroStages; ++zero) {
        if (compute == Compute::fp32 && zero > 0) continue;  // what is gathered of fp32 weights is scratch
        SCOPED_TRACE(fmt::format("optimizer {} compute {} zero {}", static_cast<int>(optimizer),
                                 static_cast<int>(compute), zero));
        const Held held = held_by_program(optimizer, compute, zero);
        const auto n = static_cast<double>(held.elements);
        const StateBytes state = engine_state(optimizer, compute);
        const double shards = zero >= 1 ? 4 : 1;
        EXPECT_EQ(held.bytes.master, n * state.master / shards);
        EXPECT_EQ(held.bytes.moments, n * state.moments / shards);
        if (zero >= 2) continue;  // whole gradients and copies live for a while: scratch
        EXPECT_EQ(held.bytes.gradient, n * state.gradient);
        EXPECT_EQ(held.bytes.compute_copy, (n - static_cast<double>(held.looked_up)) * state.compute_copy);
        const double read_from_master = static_cast<double>(held.looked_up) * state.compute_copy;
        EXPECT_EQ((held.bytes.total() + read_from_master) / n, bytes_per_parameter(state, zero, 4));
      }
}

}  // namespace
}  // namespace trireme
