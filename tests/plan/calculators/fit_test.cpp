// Whether it fits: by numbers, and of a config what its Program allocates.
#include <gtest/gtest.h>

#include "plan/calculators/fit_report.h"

namespace trireme {
namespace {

FitNumbers seven_b() {
  return {.parameters = 7e9,
          .devices = 8,
          .shape = ActivationShape{.seq = 8192, .micro = 1, .width = 4096, .layers = 32, .heads = 32},
          .memory = DeviceMemory{80e9, "a device of 80 GB"}};
}

double value_of(const Answer& answer, const std::string& key) {
  const Worked* result = find_result(answer, key);
  EXPECT_NE(result, nullptr) << key;
  return result == nullptr ? 0 : result->value;
}

TEST(FitNumbers, SevenBOnEightDevices) {
  const Answer answer = fit_numbers(seven_b());
  EXPECT_EQ(value_of(answer, "published_zero0"), 112e9);
  EXPECT_EQ(value_of(answer, "published_zero3"), 14e9);
  EXPECT_EQ(value_of(answer, "trireme_zero0"), 126e9);
  EXPECT_EQ(value_of(answer, "trireme_zero3"), 15.75e9);
  EXPECT_EQ(find_result(answer, "published_zero1_per_parameter")->shown, "5.5 B, 2.9x less");
  EXPECT_EQ(find_result(answer, "published_zero2_per_parameter")->shown, "3.75 B, 4.3x less");
  EXPECT_EQ(find_result(answer, "published_zero3_per_parameter")->shown, "2 B, 8.0x less");
  EXPECT_NEAR(value_of(answer, "total_zero2"), 28e9 + 36.5e9, 0.1e9);
  EXPECT_EQ(
      answer.notes.front(),
      "Fits from ZeRO 2 on; of several micro-batches a step, with parallel.reduce_each_micro_batch = true.");
}

TEST(FitNumbers, TensorParallelRanksShareTheParameters) {
  FitNumbers input = seven_b();
  input.tp = 4;
  input.shape->tp = 4;
  const Answer answer = fit_numbers(input);
  EXPECT_EQ(value_of(answer, "published_zero0"), 28e9);
  EXPECT_EQ(value_of(answer, "published_zero3"), 14e9);  // as many devices in all
  EXPECT_EQ(value_of(answer, "published_zero1_per_parameter"), 4 + 12.0 / 2);
}

TEST(FitNumbers, SaysWhatWouldFit) {
  FitNumbers input = seven_b();
  input.shape.reset();
  input.memory->bytes = 1e9;
  EXPECT_EQ(
      fit_numbers(input).notes.front(),
      "Does not fit at any stage; at ZeRO 3 it would on 127 GPUs (activations are not counted: give --seq, "
      "--micro, --width, --layers and --heads).");
  input.memory->of_node = true;
  EXPECT_TRUE(
      fit_numbers(input).notes.front().ends_with("the ranks of a node share its memory: use more nodes."));
  input.memory->bytes = 200e9;
  EXPECT_TRUE(fit_numbers(input).notes.front().starts_with("Fits as it is, with nothing divided"));
  input = seven_b();
  input.memory->bytes = 30e9;
  EXPECT_TRUE(fit_numbers(input).notes.front().starts_with(
      "Does not fit: the activations alone are 36.5 GB of 30 GB; recompute (all of it: 2.1 GB)"));
  input.saved = Saved::inputs;
  EXPECT_EQ(
      fit_numbers(input).notes.front(),
      "Fits from ZeRO 3 on; of several micro-batches a step, with parallel.reduce_each_micro_batch = true.");
}

TEST(FitConfig, IsWhatTheProgramAllocates) {
  const RunSpec spec = load_config(TRIREME_SOURCE_DIR "/configs/tiny.toml", {"parallel.pp=2"});
  CompileOptions options;
  int64_t fullest = 0;
  for (int rank = 0; rank < 2; ++rank) {
    options.rank = rank;
    fullest = std::max(fullest, compile(spec, options).program.memory.arena_bytes);
  }
  const Answer answer = fit_config(spec, options, DeviceMemory{static_cast<double>(fullest), "a device"});
  EXPECT_EQ(value_of(answer, "arena"), static_cast<double>(fullest));
  EXPECT_EQ(value_of(answer, "spare"), 0);
  EXPECT_TRUE(answer.notes.front().starts_with("Fits")) << answer.notes.front();
  const Answer smaller =
      fit_config(spec, options, DeviceMemory{static_cast<double>(fullest - 1), "a device"});
  EXPECT_EQ(smaller.notes.front(), "Does not fit: too large by 1 B; `trireme plan` lists what would fit.");
  double parts = 0;
  for (const Worked& part : answer.sections.front().results)
    if (part.key != "arena") parts += part.value;
  EXPECT_EQ(parts, static_cast<double>(fullest));
}

}  // namespace
}  // namespace trireme
