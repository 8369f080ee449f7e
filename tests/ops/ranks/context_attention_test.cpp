// Attention over the context axis, in its three ways, against plain attention of the whole sequences: forward
// and gradient, on one, two and four ranks.
#include <gtest/gtest.h>

#include "device/cpu/isa.h"
#include "ops/attention/context_rows.h"
#include "ops/harness/tolerance.h"
#include "ops/ranks/context_ranks.h"

namespace trireme {
namespace {

struct Setting {
  const char* name;
  int64_t B, T;
  AttentionAttrs attrs;
  bool documents = false;
};

// Chunks of T/2n rows that no block divides (12 to 60), and blocks within a chunk (T = 1040).
const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = {
      {"small", 2, 64, {.heads = 4, .kv_heads = 4, .head_dim = 8}},
      {"grouped", 1, 120, {.heads = 8, .kv_heads = 4, .head_dim = 16}},
      {"window", 2, 96, {.heads = 4, .kv_heads = 4, .head_dim = 16, .window = 20}},
      {"narrow_window", 1, 160, {.heads = 4, .kv_heads = 4, .head_dim = 16, .window = 3}},
      {"documents", 2, 136, {.heads = 4, .kv_heads = 4, .head_dim = 37}, true},
      {"softcap", 1, 104, {.heads = 4, .kv_heads = 4, .head_dim = 32, .softcap = 4.0}},
      {"everything", 2, 240, {8, 4, 48, 90, 3.0, 0.3}, true},
      {"long", 1, 1040, {.heads = 4, .kv_heads = 4, .head_dim = 32, .window = 700}, true},
  };
  return list;
}

struct Operands {
  Values qkv, dy, doc_start;
};

Operands operands_of(const Setting& s, DType dtype) {
  const TensorType qkv{dtype, {s.B, s.T, qkv_width(s.attrs)}};
  const TensorType y{dtype, {s.B, s.T, s.attrs.heads * s.attrs.head_dim}};
  Operands o{random_values({}, qkv, "qkv"), random_values({}, y, "dy"), {}};
  if (s.documents)
    o.doc_start = random_values({.kind = InputFill::Kind::doc_starts}, {DType::i32, {s.B, s.T}}, "docs");
  return o;
}

std::vector<CpuIsa> instruction_sets() {
  return {CpuIsa::baseline, std::min(CpuIsa::avx512, detect_isa()), detect_isa()};
}

class ContextAttention : public testing::TestWithParam<std::tuple<const char*, int64_t>> {};

// The oracle: plain attention in f32 on the same (rounded) numbers, and for the gradient its y, rounded. Sums
// are those of plain attention, cut and merged: the tolerance is that of its kernels.
void check(const ContextCall& call, const Setting& s) {
  const Operands o = operands_of(s, call.dtype);
  ContextCall exact = call;
  exact.dtype = DType::f32;
  ForwardResult want = attend_whole(exact, {.threads = 1, .isa = CpuIsa::baseline}, o.qkv, o.doc_start);
  ForwardResult given = want;
  for (double& y : given.y) y = rounded(y, call.dtype);
  const Values want_grad =
      differentiate_whole(exact, {.threads = 1, .isa = CpuIsa::baseline}, o.qkv, given, o.dy, o.doc_start);
  const bool half = call.dtype == DType::bf16;
  const OpSig forward = context_sig(call, false, s.documents, 0),
              grad = context_sig(call, true, s.documents, 0);
  const int64_t reduction = op_def(forward.kind).reduction(forward);
  for (const CpuIsa isa : instruction_sets()) {
    SCOPED_TRACE(testing::Message() << name_of(isa) << " " << name_of(call.dtype));
    const CpuContext context{.threads = 1, .isa = isa};
    const ForwardResult got = attend_on_ranks(call, context, o.qkv, o.doc_start);
    EXPECT_EQ(compare(got.y, want.y, tolerance_of(call.dtype, half, reduction)), "") << "y";
    EXPECT_EQ(compare(got.lse, want.lse, tolerance_of(DType::f32, half, reduction)), "") << "lse";
    const Values got_grad = differentiate_on_ranks(call, context, o.qkv, given, o.dy, o.doc_start);
    EXPECT_EQ(compare(got_grad, want_grad, tolerance_of(call.dtype, half, op_def(grad.kind).reduction(grad))),
              "")
        << "dqkv";
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(ContextAttention, IsAttentionOfTheWholeSequence) {
  const auto [mode, ranks] = GetParam();
  for (const Setting& s : settings())
    for (const DType dtype : {DType::f32, DType::bf16}) {
      SCOPED_TRACE(s.name);
      check({mode, ranks, s.attrs, dtype, s.B, s.T}, s);
      if (HasFailure()) return;
    }
}

TEST_P(ContextAttention, BitsDoNotDependOnThreads) {
  const auto [mode, ranks] = GetParam();
  // Fewer key heads on a rank than threads: queries and keys are cut apart.
  const int64_t kv_heads = std::string_view(mode) == "ulysses" ? ranks : 1;
  const Setting s{
      "threads", 1, 1040, {.heads = 4, .kv_heads = kv_heads, .head_dim = 32, .window = 700}, true};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Operands o = operands_of(s, dtype);
    const ContextCall call{mode, ranks, s.attrs, dtype, s.B, s.T};
    const CpuContext one{.threads = 1, .isa = detect_isa()}, two{.threads = 2, .isa = detect_isa()};
    const ForwardResult y = attend_on_ranks(call, one, o.qkv, o.doc_start);
    const ForwardResult y2 = attend_on_ranks(call, two, o.qkv, o.doc_start);
    EXPECT_TRUE(y.y == y2.y && y.lse == y2.lse) << name_of(dtype);
    EXPECT_TRUE(differentiate_on_ranks(call, one, o.qkv, y, o.dy, o.doc_start) ==
                differentiate_on_ranks(call, two, o.qkv, y, o.dy, o.doc_start))
        << name_of(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ContextAttention,
                         testing::Combine(testing::Values("gather", "ring", "ulysses"),
                                          testing::Values(int64_t{1}, int64_t{2}, int64_t{4})),
                         [](const auto& instance) {
                           return std::string(std::get<0>(instance.param)) + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace trireme
