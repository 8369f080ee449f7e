// What the case lists cannot say about products and the head: packed weights give what plain ones give, and
// the number of threads changes no bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "device/cpu/kernel.h"
#include "ops/head/head.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

// One operand of either dtype, 64-byte aligned.
struct Buffer {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  TensorType type;
  std::vector<Line> lines;
  explicit Buffer(TensorType t) : type(std::move(t)), lines(static_cast<size_t>(bytes_of(type)) / 64 + 1) {}
  std::byte* data() { return lines[0].bytes; }
  int64_t size() const { return count(type.shape); }
  float at(int64_t i) {
    return type.dtype == DType::f32 ? reinterpret_cast<float*>(data())[i]
                                    : to_float(reinterpret_cast<bf16*>(data())[i]);
  }
  void fill(uint32_t seed) {
    uint32_t state = seed * 2654435761u + 1;
    for (int64_t i = 0; i < size(); ++i) {
      state = state * 1664525u + 1013904223u;
      const float x = static_cast<float>(state >> 8) / (1 << 23) - 1.0f;
      if (type.dtype == DType::f32) reinterpret_cast<float*>(data())[i] = x;
      if (type.dtype == DType::bf16) reinterpret_cast<bf16*>(data())[i] = to_bf16(x);
    }
  }
};

// Runs the op's CPU kernel; accumulators start at zero.
std::vector<Buffer> run(const std::string& kind, const Attrs& attrs, std::vector<Buffer*> inputs,
                        int threads) {
  OpSig sig{kind, attrs, {}, {}};
  for (const Buffer* input : inputs) sig.inputs.push_back(input->type);
  const OpDef& def = op_def(kind);
  sig.outputs = def.infer(attrs, sig.inputs);
  std::vector<Buffer> outputs;
  for (const TensorType& type : sig.outputs) outputs.emplace_back(type);
  const auto scratch_bytes = def.scratch_bytes != nullptr ? def.scratch_bytes(sig, threads) : 0;
  Buffer scratch({DType::u8, {scratch_bytes}});
  std::vector<void*> in, out;
  for (Buffer* input : inputs) in.push_back(present(input->type) ? input->data() : nullptr);
  for (Buffer& output : outputs) out.push_back(present(output.type) ? output.data() : nullptr);
  const CpuKernel kernel = find_cpu_kernel(kind)(sig, {threads, detect_isa()});
  kernel({in, out, scratch.data()});
  return outputs;
}

// Of all but what lies behind a packed weight, the padding, which is nobody's business.
void expect_same_bits(Buffer& a, Buffer& b, const std::string& what) {
  ASSERT_EQ(a.type, b.type);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(bytes_of(a.type))), 0) << what;
}

// Both sum k products of numbers in [-1,1] in f32, in orders of their own; then round to the dtype.
void expect_near(Buffer& a, Buffer& b, int64_t k, const std::string& what) {
  const double eps = a.type.dtype == DType::bf16 ? 1.0 / 128 : 1.0 / (1 << 23);
  const double tolerance_f32 = static_cast<double>(k) / (1 << 23);
  for (int64_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a.at(i), b.at(i), tolerance_f32 + eps * std::abs(b.at(i))) << what << " at " << i;
}

struct Size {
  int64_t rows, in, out;
};
const std::vector<Size> kSizes = {{1, 1, 1},        {7, 5, 3},        {33, 64, 257},    {130, 257, 65},
                                  {64, 64, 64},     {2050, 96, 80},   {1024, 384, 768}, {1100, 768, 384},
                                  {512, 1536, 128}, {100, 3000, 2112}};

class Products : public testing::TestWithParam<DType> {};

TEST_P(Products, PackedEqualsPlain) {
  for (const auto& [rows, in, out] : kSizes) {
    Buffer x({GetParam(), {1, rows, in}}), dy({GetParam(), {1, rows, out}}), w({GetParam(), {out, in}});
    Buffer bias({GetParam(), {out}});
    x.fill(1), dy.fill(2), w.fill(3), bias.fill(4);
    const Attrs attrs = pack_attrs(LinearAttrs{in, out});
    const std::string what = to_string(x.type) + " " + to_string(w.type);
    Buffer packed = run("pack", pack_attrs(PackAttrs{"forward"}), {&w}, 2)[0];
    Buffer packed_back = run("pack", pack_attrs(PackAttrs{"input_grad"}), {&w}, 2)[0];
    expect_near(run("linear", attrs, {&x, &packed, &bias}, 2)[0], run("linear", attrs, {&x, &w, &bias}, 2)[0],
                in + 1, what);
    expect_near(run("linear_grad_input", attrs, {&dy, &packed_back}, 2)[0],
                run("linear_grad_input", attrs, {&dy, &w}, 2)[0], out, what);
  }
}

TEST_P(Products, ThreadsChangeNoBit) {
  for (const auto& [rows, in, out] : kSizes) {
    Buffer x({GetParam(), {1, rows, in}}), dy({GetParam(), {1, rows, out}}), w({GetParam(), {out, in}});
    x.fill(1), dy.fill(2), w.fill(3);
    const Attrs attrs = pack_attrs(LinearAttrs{in, out});
    const Attrs grad_attrs = pack_attrs(LinearGradWeightAttrs{in, out, 1});
    Buffer absent(absent_type());
    Buffer packed = run("pack", pack_attrs(PackAttrs{"forward"}), {&w}, 2)[0];
    Buffer packed_back = run("pack", pack_attrs(PackAttrs{"input_grad"}), {&w}, 1)[0];
    std::vector<std::vector<Buffer>> all[2];
    for (const int threads : {1, 2}) {
      auto& results = all[threads - 1];
      results.push_back(run("linear", attrs, {&x, &packed, &absent}, threads));
      results.push_back(run("linear", attrs, {&x, &w, &absent}, threads));
      results.push_back(run("linear_grad_input", attrs, {&dy, &packed_back}, threads));
      results.push_back(run("linear_grad_input", attrs, {&dy, &w}, threads));
      results.push_back(run("linear_grad_weight", grad_attrs, {&x, &dy}, threads));
    }
    for (size_t i = 0; i < all[0].size(); ++i)
      for (size_t output = 0; output < all[0][i].size(); ++output)
        expect_same_bits(all[0][i][output], all[1][i][output],
                         to_string(x.type) + " " + to_string(w.type) + " result " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Products, testing::Values(DType::f32, DType::bf16),
                         [](const auto& name) { return std::string(name_of(name.param)); });

class Head : public testing::TestWithParam<DType> {};

struct HeadSize {
  int64_t rows, width, vocab;
};

void fill_targets(Buffer& targets, int64_t vocab) {
  auto* t = reinterpret_cast<int32_t*>(targets.data());
  for (int64_t i = 0; i < targets.size(); ++i)
    t[i] = i % 7 == 3 ? -1 : static_cast<int32_t>(i * 7919 % vocab);
}

TEST_P(Head, PackedEqualsPlainAndThreadsChangeNoBit) {
  for (const auto& [rows, width, vocab] :
       std::vector<HeadSize>{{5, 8, 11}, {70, 64, 257}, {70, 16, 300000}}) {
    Buffer x({GetParam(), {1, rows, width}}), w({GetParam(), {vocab, width}}),
        targets({DType::i32, {1, rows}});
    x.fill(1), w.fill(2), fill_targets(targets, vocab);
    Buffer forward = run("pack", pack_attrs(PackAttrs{"forward"}), {&w}, 2)[0];
    Buffer backward = run("pack", pack_attrs(PackAttrs{"input_grad"}), {&w}, 2)[0];
    const Attrs attrs = pack_attrs(HeadLossAttrs{vocab, width, 1e-3, 20.0});
    auto plain = run("head_loss_grad", attrs, {&x, &w, &w, &targets}, 2);
    auto one = run("head_loss_grad", attrs, {&x, &forward, &backward, &targets}, 1);
    auto two = run("head_loss_grad", attrs, {&x, &forward, &backward, &targets}, 2);
    auto loss = run("head_loss", attrs, {&x, &forward, &targets}, 2);
    for (size_t i = 0; i < one.size(); ++i) expect_same_bits(one[i], two[i], to_string(one[i].type));
    expect_same_bits(loss[0], two[0], "loss");
    expect_same_bits(loss[1], two[1], "nll");
    for (size_t i = 1; i < one.size(); ++i) expect_near(plain[i], two[i], width + rows, "plain");
  }
}

TEST_P(Head, AChunkOfIgnoredRowsGivesZero) {
  const int64_t rows = 70, width = 16, vocab = 300000;
  Buffer x({GetParam(), {1, rows, width}}), w({GetParam(), {vocab, width}}), targets({DType::i32, {1, rows}});
  x.fill(1), w.fill(2);
  std::memset(targets.data(), 0xff, static_cast<size_t>(bytes_of(targets.type)));
  reinterpret_cast<int32_t*>(targets.data())[rows - 1] = 5;
  auto out = run("head_loss_grad", pack_attrs(HeadLossAttrs{vocab, width}), {&x, &w, &w, &targets}, 2);
  EXPECT_EQ(reinterpret_cast<double*>(out[0].data())[0], out[1].at(rows - 1));
  EXPECT_GT(out[1].at(rows - 1), 1.0f);
  for (int64_t i = 0; i < (rows - 1) * width; ++i) ASSERT_EQ(out[2].at(i), 0.0f);
  EXPECT_NE(out[2].at((rows - 1) * width), 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Head, testing::Values(DType::f32, DType::bf16),
                         [](const auto& name) { return std::string(name_of(name.param)); });

}  // namespace
}  // namespace trireme
