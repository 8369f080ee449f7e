// Attention beyond the case list: PyTorch's values, every instruction set, bits that do not depend on
// threads, and the kernels' own interface, where queries and keys are apart (chunks that merge by
// log-sum-exp).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "device/cpu/kernel.h"
#include "ops/attention/attention.h"
#include "ops/attention/flash_task.h"

namespace trireme {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;
Memory aligned(int64_t bytes) {
  return Memory(std::aligned_alloc(64, static_cast<size_t>(bytes + 127) / 64 * 64));
}

std::vector<CpuIsa> instruction_sets() {
  std::vector<CpuIsa> sets;
  for (int isa = 0; isa <= static_cast<int>(detect_isa()); ++isa) sets.push_back(static_cast<CpuIsa>(isa));
  return sets;
}

std::vector<float> wave(int64_t n, double step, double phase) {
  std::vector<float> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + phase));
  return x;
}

struct Setting {
  int64_t B = 1, T = 7;
  AttentionAttrs attrs = {.heads = 4, .kv_heads = 2, .head_dim = 6};
  std::vector<int32_t> doc_start;
  DType dtype = DType::f32;
};

struct Results {
  std::vector<float> y, lse, dqkv;
  bool operator==(const Results&) const = default;
};

// A tensor of `type` that holds `values`, and back.
Memory make(const TensorType& type, const std::vector<float>& values) {
  Memory memory = aligned(bytes_of(type));
  for (size_t i = 0; i < values.size(); ++i)
    if (type.dtype == DType::bf16)
      static_cast<bf16*>(memory.get())[i] = to_bf16(values[i]);
    else
      static_cast<float*>(memory.get())[i] = values[i];
  return memory;
}
std::vector<float> read(const TensorType& type, const Memory& memory) {
  std::vector<float> values(static_cast<size_t>(count(type.shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = type.dtype == DType::bf16 ? to_float(static_cast<bf16*>(memory.get())[i])
                                          : static_cast<float*>(memory.get())[i];
  return values;
}

OpSig sign(const char* op, const AttentionAttrs& attrs, const std::vector<TensorType>& inputs) {
  return {op, pack_attrs(attrs), inputs, op_def(op).infer(pack_attrs(attrs), inputs)};
}

void call(const OpSig& sig, const CpuContext& context, const std::vector<void*>& in,
          const std::vector<void*>& out) {
  const Memory scratch = aligned(op_def(sig.kind).scratch_bytes(sig, context.threads));
  find_cpu_kernel(sig.kind)(sig, context)({in, out, static_cast<std::byte*>(scratch.get())});
}

// Forward and backward of qkv = sin(0.37 i), dy = cos(0.21 i).
Results attend(const Setting& s, const CpuContext& context) {
  const TensorType qkv{s.dtype, {s.B, s.T, qkv_width(s.attrs)}};
  const TensorType docs = s.doc_start.empty() ? absent_type() : TensorType{DType::i32, {s.B, s.T}};
  const OpSig forward = sign("attention", s.attrs, {qkv, docs});
  const TensorType y = forward.outputs[0], lse = forward.outputs[1];
  const OpSig backward = sign("attention_grad", s.attrs, {qkv, y, lse, y, docs});
  const Memory x = make(qkv, wave(count(qkv.shape), 0.37, 0.0));
  const Memory dy = make(y, wave(count(y.shape), 0.21, std::acos(-1.0) / 2));
  const Memory out = aligned(bytes_of(y)), sums = aligned(bytes_of(lse)), dx = aligned(bytes_of(qkv));
  std::vector<int32_t> doc_start = s.doc_start;
  void* documents = doc_start.empty() ? nullptr : doc_start.data();
  call(forward, context, {x.get(), documents}, {out.get(), sums.get()});
  call(backward, context, {x.get(), out.get(), sums.get(), dy.get(), documents}, {dx.get()});
  return {read(y, out), read(lse, sums), read(qkv, dx)};
}

// The largest difference, as a part of the largest value.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double gap = 0.0, size = 0.0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    gap = std::isnan(difference) ? INFINITY : std::max(gap, difference);
    size = std::max(size, std::abs(static_cast<double>(b[i])));
  }
  return gap / size;
}

// Every instruction set and dtype against `expected`. f32: sums of at most T + D terms, each rounded, on
// values near the largest one. bf16: three roundings of 2^-9 (inputs, weights or their gradients, outputs),
// which add up over two products.
void expect_near(Setting setting, const Results& expected, double terms) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const CpuIsa isa : instruction_sets()) {
      SCOPED_TRACE(testing::Message() << name_of(isa) << " " << name_of(dtype));
      setting.dtype = dtype;
      const Results got = attend(setting, {.threads = 1, .isa = isa});
      const double tolerance = dtype == DType::f32 ? terms * 0x1p-24 * 4 : 0x1p-9 * 6;
      EXPECT_LE(distance(got.y, expected.y), tolerance);
      EXPECT_LE(distance(got.lse, expected.lse), tolerance);
      EXPECT_LE(distance(got.dqkv, expected.dqkv), 2 * tolerance);
    }
}

std::vector<float> numbers(std::istream& in) {
  std::string line;
  std::getline(in, line);
  std::istringstream text(line);
  std::vector<float> values;
  for (float x = 0.0f; text >> x;) values.push_back(x);
  return values;
}

TEST(Attention, AgreesWithPyTorch) {
  std::ifstream file(TRIREME_SOURCE_DIR "/tests/golden/attention/attention.txt");
  ASSERT_TRUE(file.good());
  int settings = 0;
  for (std::string name; std::getline(file, name); ++settings) {
    SCOPED_TRACE(name);
    Setting s;
    if (name == "window") s.attrs.window = 3;
    if (name == "softcap") s.attrs.softcap = 1.5, s.attrs.scale = 0.8;
    if (name == "documents") s.doc_start = {0, 0, 0, 3, 3, 5, 5};
    const Results expected{numbers(file), numbers(file), numbers(file)};
    expect_near(s, expected, 7 + 6);
  }
  EXPECT_EQ(settings, 4);
}

TEST(Attention, InstructionSetsAgreeOnManyBlocks) {
  Setting s{
      .B = 1, .T = 333, .attrs = {.heads = 2, .kv_heads = 1, .head_dim = 72, .window = 150, .softcap = 2.0}};
  for (int32_t t = 0; t < 333; ++t) s.doc_start.push_back(t < 201 ? 0 : 201);
  const Results expected = attend(s, {.threads = 1, .isa = CpuIsa::baseline});
  expect_near(s, expected, 333 + 72);
}

TEST(Attention, BitsDoNotDependOnThreads) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const CpuIsa isa : instruction_sets())
      for (const int64_t kv_heads : {1, 2}) {  // fewer key heads than threads: queries and keys are cut apart
        SCOPED_TRACE(testing::Message() << name_of(isa) << " " << name_of(dtype) << " " << kv_heads);
        const Setting s{.B = 1,
                        .T = 550,
                        .attrs = {.heads = 2, .kv_heads = kv_heads, .head_dim = 32, .window = 400},
                        .dtype = dtype};
        const Results one = attend(s, {.threads = 1, .isa = isa});
        for (const int threads : {2, 3, 8})
          EXPECT_EQ(attend(s, {.threads = threads, .isa = isa}), one) << threads << " threads";
      }
}

// Positions 0..299 as queries against keys in two chunks, merged, must give what one call gives.
template <class T>
void merge_chunks(const FlashKernels<T>& kernels, double tolerance) {
  constexpr int64_t kRows = 300, kCut = 130, D = 40;
  std::vector<T> x(kRows * 3 * D);
  const std::vector<float> values = wave(kRows * 3 * D, 0.37, 0.0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = from_float<T>(values[i]);
  const auto run = [&](int64_t key_begin, int64_t keys, std::vector<T>& y, std::vector<float>& lse) {
    const T* k = x.data() + D + key_begin * 3 * D;
    FlashForward<T> task{
        .in = {.q = x.data(), .k = k, .v = k + D, .q_row = 3 * D, .kv_row = 3 * D, .head_dim = D}};
    task.in.scale = 0.2f;
    task.in.mask = {.query_rows = kRows, .key_rows = keys, .offset = -key_begin};
    y.assign(kRows * D, from_float<T>(7.0f)), lse.assign(kRows, 7.0f);
    task.y = y.data(), task.y_row = D, task.lse = lse.data(), task.query_end = kRows;
    const Memory scratch = aligned(flash_forward_slot_bytes(kRows, keys, D));
    kernels.forward(task, scratch.get());
  };
  std::vector<T> whole, first, second;
  std::vector<float> lse, lse1, lse2;
  run(0, kRows, whole, lse);
  run(0, kCut, first, lse1);
  run(kCut, kRows - kCut, second, lse2);
  for (int64_t t = 0; t < kRows; ++t) {
    const auto i = static_cast<size_t>(t);
    if (t < kCut) {
      EXPECT_EQ(lse2[i], -INFINITY) << t;
    }
    const float merged = std::log(std::exp(lse1[i]) + std::exp(lse2[i]));
    EXPECT_NEAR(merged, lse[i], tolerance) << t;
    for (size_t d = 0; d < D; ++d) {
      const float a = to_float(first[i * D + d]), b = to_float(second[i * D + d]);
      if (t < kCut) {
        EXPECT_EQ(b, 0.0f) << t;
      }
      const float mix = a * std::exp(lse1[i] - merged) + b * std::exp(lse2[i] - merged);
      EXPECT_NEAR(mix, to_float(whole[i * D + d]), tolerance) << t << " " << d;
    }
  }
}

TEST(Attention, ChunksOfKeysMergeByLogSumExp) {
  merge_chunks(flash_f32_baseline(), 1e-5);
  merge_chunks(flash_bf16_baseline(), 0x1p-8);
  if (detect_isa() >= CpuIsa::avx512) merge_chunks(flash_f32_avx512(), 1e-5);
  if (detect_isa() == CpuIsa::amx) merge_chunks(flash_bf16_amx(), 0x1p-7);
}

TEST(Attention, LargeScoresStayFinite) {
  for (const CpuIsa isa : instruction_sets()) {
    Setting s{.B = 1, .T = 200, .attrs = {.heads = 1, .kv_heads = 1, .head_dim = 32, .scale = 3000.0}};
    s.dtype = DType::bf16;
    for (const float x : attend(s, {.threads = 1, .isa = isa}).y)
      ASSERT_LE(std::abs(x), 1.01f) << name_of(isa);
  }
}

TEST(Attention, CountsVisiblePairs) {
  EXPECT_EQ(visible_pairs(4, 0, 0), 10);
  EXPECT_EQ(visible_pairs(4, 0, 2), 1 + 2 + 2 + 2);
  EXPECT_EQ(visible_pairs(1, 9, 0), 10);
  EXPECT_EQ(visible_pairs(2, 9, 4), 8);
  EXPECT_EQ(visible_pairs(3, 0, 8), 6);
}

TEST(Attention, RefusesShapesThatDoNotFit) {
  const auto refuses = [](AttentionAttrs attrs, std::vector<TensorType> inputs) {
    EXPECT_THROW(op_def("attention").infer(pack_attrs(attrs), inputs), std::invalid_argument);
  };
  const AttentionAttrs good{.heads = 2, .kv_heads = 1, .head_dim = 4};
  const TensorType qkv{DType::f32, {1, 3, 16}};
  EXPECT_NO_THROW(op_def("attention").infer(pack_attrs(good), std::vector{qkv, absent_type()}));
  refuses(good, {{DType::f32, {1, 3, 15}}, absent_type()});
  refuses(good, {{DType::i32, {1, 3, 16}}, absent_type()});
  refuses(good, {qkv, {DType::i32, {1, 2}}});
  refuses({.heads = 3, .kv_heads = 2, .head_dim = 4}, {{DType::f32, {1, 3, 28}}, absent_type()});
  refuses({.heads = 2, .kv_heads = 1, .head_dim = 4, .window = -1}, {qkv, absent_type()});
}

}  // namespace
}  // namespace trireme
