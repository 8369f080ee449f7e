// A whole optimizer step on the engine. The oracle is the same Program with every value in memory of its own,
// filled with NaN before, run op by op by the reference kernels.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "base/random.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "device/null/null_device.h"
#include "ops/grad_norm/grad_norm.h"

namespace trireme {
namespace {

constexpr int64_t kSequences = 8, kSeqLen = 16, kVocab = 97;

RunSpec spec_of(const std::string& family, int64_t micro) {
  return parse_config(
      fmt::format(
          "[model]\nfamily = \"{}\"\nlayers = 2\nwidth = 32\nheads = 2\nvocab = {}\ncontext = {}\n"
          "[data]\ntrain = [\"unused.bin\"]\nseq_len = {}\n[batch]\nsequences = {}\nmicro = {}\n"
          "[optimizer]\nlr = 1e-3\n[precision]\ncompute = \"fp32\"\n[run]\nname = \"t\"\nsteps = 10\n",
          family, kVocab, kSeqLen, kSeqLen, kSequences, micro),
      "engine");
}

// The oracles of all ops behind Device.
class ReferenceDevice final : public Device {
 public:
  std::string_view name() const override { return "reference"; }
  std::byte* allocate_arena(int64_t bytes) override {
    arena_.reset(new (std::align_val_t(64)) std::byte[static_cast<size_t>(bytes)]);
    std::memset(arena_.get(), 0xff, static_cast<size_t>(bytes));
    return arena_.get();
  }
  KernelId prepare(const OpSig& sig) override {
    sigs_.push_back(sig);
    return KernelId(static_cast<int64_t>(sigs_.size()) - 1);
  }
  void run(KernelId kernel, const Operands& operands) override {
    const OpSig& sig = sigs_[static_cast<size_t>(kernel.index)];
    // Oracles write before they have read everything: what runs in place gets outputs of its own.
    std::vector<std::vector<std::byte>> made;
    std::vector<void*> outputs;
    for (size_t i = 0; i < operands.outputs.size(); ++i) {
      const auto* at = static_cast<const std::byte*>(operands.outputs[i]);
      made.emplace_back(at, at + (at != nullptr ? bytes_of(sig.outputs[i]) : 0));
      outputs.push_back(at != nullptr ? made.back().data() : nullptr);
    }
    find_op(sig.kind)->reference(sig, {operands.inputs, outputs, nullptr});
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != nullptr) std::memcpy(operands.outputs[i], made[i].data(), made[i].size());
  }
  void write(std::byte* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void read(void* to, const std::byte* from, int64_t bytes) override {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  bool host_addressable() const override { return true; }
  void synchronize() override {}

 private:
  struct Free {
    void operator()(std::byte* p) const { operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte[], Free> arena_;
  std::vector<OpSig> sigs_;
};

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// The program with no memory used twice: locals of a code side by side (scratch after them; the oracles use
// none), buffers side by side.
Program spread_out(Program p) {
  std::vector<int64_t> locals;
  for (size_t c = 0; c < p.codes.size(); ++c) {
    int64_t end = 0;
    for (const ValueId id : values_with(p.codes[c].values, ValueRole::local)) {
      p.layouts[c].offset[static_cast<size_t>(id.index)] = end;
      end += aligned(bytes_of(p.codes[c].value(id).type));
    }
    for (auto& scratch : p.layouts[c].scratch)
      for (int64_t& offset : scratch) offset = end;
    locals.push_back(end + kBufferAlignment);
  }
  for (const Timeline& timeline : p.timelines)
    for (const Action& action : timeline.actions)
      if (action.workspace.valid())
        p.memory.buffers[static_cast<size_t>(action.workspace.index)].bytes =
            locals[static_cast<size_t>(p.unit(action.unit).code.index)];
  p.memory.arena_bytes = 0;
  for (Buffer& buffer : p.memory.buffers) {
    buffer.offset = p.memory.arena_bytes;
    p.memory.arena_bytes += aligned(buffer.bytes);
  }
  return p;
}

struct Result {
  double loss = 0, norm = 0;
  std::vector<std::vector<float>> weights, moments;  // by parameter
};

// One step from drawn weights on drawn tokens.
Result step(const Program& program, Device& device) {
  Engine engine(program, device);
  for (size_t i = 0; i < program.params.size(); ++i) {
    const RandomStream draw(3, program.params[i].name);
    std::vector<float> values(static_cast<size_t>(count(program.params[i].shape)));
    const ParamId id(static_cast<int64_t>(i));
    for (const ParamState zero : {ParamState::moment1, ParamState::moment2})
      engine.write_state(id, zero, values);
    const float mean = program.params[i].name.ends_with("norm.weight") ? 1.0f : 0.0f;
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = mean + static_cast<float>(draw.uniform(k) - 0.5) * 0.2f;
    engine.write_state(id, ParamState::master, values);
  }
  const RandomStream draw(3, "tokens");
  std::vector<int32_t> tokens, targets;
  for (uint64_t k = 0; k < kSequences * kSeqLen; ++k) {
    tokens.push_back(static_cast<int32_t>(draw.uniform(2 * k) * kVocab));
    targets.push_back(static_cast<int32_t>(draw.uniform(2 * k + 1) * kVocab));
  }
  const Timeline& train = *find_timeline(program, "train");
  const int64_t rows = kSequences / train.micro_batches;
  std::vector<BatchArrays> batches(static_cast<size_t>(train.micro_batches));
  for (size_t m = 0; m < batches.size(); ++m)
    for (const BatchField& field : program.batch)
      batches[m].push_back((field.name == "tokens" ? tokens : targets).data() +
                           static_cast<int64_t>(m) * rows * kSeqLen);
  double scalars[kStepScalars] = {};
  scalar(scalars, StepScalar::lr) = 1e-3;
  scalar(scalars, StepScalar::bias1) = 0.1;
  scalar(scalars, StepScalar::bias2) = 0.05;
  scalar(scalars, StepScalar::inverse_tokens) = 1.0 / (kSequences * kSeqLen);
  engine.write_buffer(program.scalars, scalars, sizeof scalars);
  engine.run(train, batches);
  double sums[2] = {};
  engine.read_buffer(program.scalars, scalars, sizeof scalars);
  engine.read_buffer(program.result, sums, sizeof sums);
  Result result{sums[0] / (kSequences * kSeqLen), scalar(scalars, StepScalar::norm), {}, {}};
  for (size_t i = 0; i < program.params.size(); ++i) {
    std::vector<float> values(static_cast<size_t>(count(program.params[i].shape)));
    const ParamId id(static_cast<int64_t>(i));
    engine.read_state(id, ParamState::master, values);
    result.weights.push_back(values);
    engine.read_state(id, ParamState::moment1, values);
    result.moments.push_back(values);
  }
  return result;
}

double rms(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// The first moment after a first step is (1 - beta1) times the clipped gradient.
void expect_close(const Program& program, const Result& got, const Result& expected) {
  EXPECT_NEAR(got.loss, expected.loss, 1e-5 * expected.loss);
  EXPECT_NEAR(got.norm, expected.norm, 1e-5 * expected.norm);
  for (size_t i = 0; i < got.moments.size(); ++i) {
    std::vector<float> difference = got.moments[i];
    for (size_t k = 0; k < difference.size(); ++k) difference[k] -= expected.moments[i][k];
    // Key biases have no gradient but rounding: a floor for what is compared.
    EXPECT_LT(rms(difference), 1e-4 * rms(expected.moments[i]) + 1e-9) << program.params[i].name;
    EXPECT_GT(rms(got.moments[i]), 0) << program.params[i].name << " has no gradient";
  }
}

bool same(const Result& a, const Result& b) {
  return a.loss == b.loss && a.norm == b.norm && a.weights == b.weights && a.moments == b.moments;
}

class EngineStep : public testing::TestWithParam<const char*> {
 protected:
  Program program(int64_t micro, int threads) const {
    return compile(spec_of(GetParam(), micro), {.threads = threads}).program;
  }
  static Result on_cpu(const Program& p) { return step(p, *make_cpu_device({.threads = p.threads})); }
};

TEST_P(EngineStep, EqualsTheReferenceKernelsInMemoryOfTheirOwn) {
  const Program p = program(2, 2);
  ReferenceDevice apart, planned;
  const Result expected = step(spread_out(p), apart);
  ASSERT_TRUE(std::isfinite(expected.loss));
  EXPECT_TRUE(same(step(p, planned), expected)) << "the memory plan changes the numbers";
  expect_close(p, on_cpu(p), expected);
}

TEST_P(EngineStep, MicroBatchesOfAnySizeAgree) {
  const Result expected = on_cpu(program(8, 2));
  for (const int64_t micro : {1, 2, 4}) {
    const Program p = program(micro, 2);
    expect_close(p, on_cpu(p), expected);
  }
}

TEST_P(EngineStep, TheSameBitsOnAnyThreads) {
  const Result one = on_cpu(program(2, 1));
  EXPECT_TRUE(same(on_cpu(program(2, 2)), one));
  EXPECT_TRUE(same(on_cpu(program(2, 1)), one));
}

TEST_P(EngineStep, TheNullDeviceWalksIt) {
  const Program p = program(2, 2);
  EXPECT_EQ(step(p, *make_null_device()).loss, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Families, EngineStep, testing::Values("gpt2", "llama"));

}  // namespace
}  // namespace trireme
