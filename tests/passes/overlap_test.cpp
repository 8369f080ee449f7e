// Which collectives of a block on tp ranks go into products, and what stays.
#include "passes/overlap.h"

#include <gtest/gtest.h>

#include "passes/autodiff.h"
#include "passes/pack.h"
#include "passes/recompute.h"
#include "passes/shard_text.h"

namespace trireme::test {
namespace {

// The op lines of a code, without attributes, and the names of its values.
struct Outline {
  std::string ops;
  std::vector<std::string> names;
};

Outline outline(const Code& code) {
  Outline made;
  const std::string text = to_text(code);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" = ") != std::string::npos) made.ops += line.substr(2, line.find(" {") - 2) + "\n";
    begin = end + 1;
  }
  for (const Value& value : code.values) made.names.push_back(value.name);
  return made;
}

bool has(const Outline& outline, const std::string& name) {
  return std::find(outline.names.begin(), outline.names.end(), name) != outline.names.end();
}

// Of rank 1 of two, in two chunks.
Code overlapped(const std::string& text, const std::vector<ParamUse>& uses, bool sequence,
                BackwardForm form = BackwardForm::whole) {
  Code code = autodiff(cut(text, uses, tensor_plan(2, 1, sequence)), form, {"tp", 2, 1});
  recompute(code, form, Rerun::gathers);
  pack_weights(code);
  overlap_collectives(code, 2);
  verify(code, "overlap");
  EXPECT_EQ(to_text(parse_code(to_text(code))), to_text(code));
  return code;
}

constexpr const char* kMlpForward = R"(
prepare up.forward = pack(up)
prepare down.forward = pack(down)
prepare down.input_grad = pack(down)
prepare up.input_grad = pack(up)
forward a, _ = gather_linear(x, up.forward, up.bias)
forward h = activation(a)
forward y.addend.tp.rows = linear_scatter(h, down.forward)
forward y = add_bias(y.addend.tp.rows, down.bias)
)";

// In backward, what is gathered goes on to the gradient of the weight; what that alone reads is gathered
// apart.
constexpr const char* kMlpBackward = R"(
backward.weight down.bias.grad = add_bias_grad(y.grad)
backward.input dx.2, dx = gather_linear(y.grad, down.input_grad)
backward.weight down.grad, _ = linear_grad_weight(h, dx)
backward.input activation.dx = activation_grad(a, dx.2)
backward.input x.grad = linear_scatter(activation.dx, up.input_grad)
backward.weight x.tp.whole.again = all_gather(x)
backward.weight up.grad, up.bias.grad = linear_grad_weight(x.tp.whole.again, activation.dx)
)";

ValueRole role_of(const Code& code, std::string_view name) {
  for (const Value& value : code.values)
    if (value.name == name) return value.role;
  ADD_FAILURE() << "no value " << name;
  return ValueRole::local;
}

TEST(Overlap, GathersAndScattersGoIntoTheirProducts) {
  for (const BackwardForm form : {BackwardForm::whole, BackwardForm::split}) {
    const Code code = overlapped(kMlp, kMlpUses, true, form);
    const Outline made = outline(code);
    EXPECT_EQ(made.ops, whole_text(kMlpForward) + whole_text(kMlpBackward));
    for (const char* gone : {"x.tp.whole", "y.addend", "dx.3"}) EXPECT_FALSE(has(made, gone)) << gone;
    EXPECT_EQ(role_of(code, "dx"), form == BackwardForm::split ? ValueRole::held : ValueRole::local);
  }
}

TEST(Overlap, SaysWhatEachRankDoes) {
  const std::string text = to_text(overlapped(kMlp, kMlpUses, true));
  for (const char* line :
       {"gather_linear(x, up.forward, up.bias) {axis=\"tp\", ranks=2, rank=1, use=\"forward\", in=8, out=6, "
        "chunks=2, batch=2, keep=0}",
        "linear_scatter(h, down.forward) {axis=\"tp\", ranks=2, rank=1, use=\"forward\", in=6, out=8, "
        "chunks=2}",
        "gather_linear(y.grad, down.input_grad) {axis=\"tp\", ranks=2, rank=1, use=\"input_grad\", in=6, "
        "out=8, chunks=2, batch=2, keep=1}"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

// The first of two readers makes the whole for the other.
TEST(Overlap, TheFirstReaderKeepsTheWholeForOthers) {
  const Code code = overlapped(kTwoReaders, kTwoReadersUses, true);
  const std::string ops = outline(code).ops;
  EXPECT_NE(ops.find("forward a, x.tp.whole = gather_linear(x, v.forward, _)\n"
                     "forward b = linear(x.tp.whole, w.forward, _)\n"),
            std::string::npos)
      << ops;
}

Code parsed(const std::string& ops) {
  Code code = parse_code(
      "code stays\n"
      "  value x: input f32[1,4,8] tp=rows\n"
      "  value whole: local f32[2,4,8]\n"
      "  value w: param f32[8,8]\n"
      "  value b: param f32[8]\n"
      "  value h: local f32[2,4,8]\n"
      "  value p: local f32[2,4,8] tp=partial\n"
      "  value q: local f32[2,4,8]\n"
      "  value y: output f32[1,4,8] tp=rows\n" +
      ops + "end\n");
  verify(code, "the test");
  return code;
}

const std::string kGather =
    "  forward whole = all_gather(x) {axis=\"tp\", ranks=2, rank=0, from=\"rows\", dim=0, batch=2, "
    "row_dims=2}\n";
const std::string kScatter =
    "  forward y = reduce_scatter(p) {axis=\"tp\", ranks=2, rank=0, to=\"rows\", dim=0, row_dims=2}\n";

// Another reads what was gathered first, the product adds a bias, or its addends are read elsewhere too.
TEST(Overlap, WhatDoesNotFitStays) {
  const std::string kActivation = " = activation(whole) {kind=\"relu2\"}\n";
  for (const std::string& ops :
       {kGather + "  forward h" + kActivation + "  forward p = linear(h, w, b) {in=8, out=8}\n" + kScatter,
        kGather + "  forward h" + kActivation + "  forward q = linear(whole, w, _) {in=8, out=8}\n" +
            "  forward p = add(h, q)\n" + kScatter,
        kGather + "  forward h" + kActivation + "  forward p = linear(h, w, _) {in=8, out=8}\n" + kScatter +
            "  forward q = add(p, h)\n"}) {
    Code code = parsed(ops);
    const std::string before = to_text(code);
    overlap_collectives(code, 2);
    EXPECT_EQ(to_text(code), before);
  }
}

// Without sequence parallelism activations are summed whole.
TEST(Overlap, WithoutSequenceNothingChanges) {
  Code code = overlapped(kMlp, kMlpUses, false);
  const std::string ops = outline(code).ops;
  EXPECT_EQ(ops.find("gather_linear"), std::string::npos);
  EXPECT_EQ(ops.find("linear_scatter"), std::string::npos);
}

}  // namespace
}  // namespace trireme::test
