// Graph passes as text in, text out.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "passes/autodiff.h"
#include "passes/decode.h"
#include "passes/fuse.h"
#include "passes/pack.h"
#include "passes/precision.h"
#include "passes/verify.h"

namespace trireme {
namespace {

// The op lines of a text, without their attributes.
std::string ops_in(const std::string& text) {
  std::string ops;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" = ") != std::string::npos) ops += line.substr(2, line.find(" {") - 2) + "\n";
    begin = end + 1;
  }
  return ops;
}

const char* const kResidual =
    "graph residual\n"
    "  value x: input f32[1,2,32]\n"
    "  value r: input f32[1,2,32]\n"
    "  value w: param f32[32]\n"
    "  value s: local f32[1,2,32]\n"
    "  value n: local f32[1,2,32]\n"
    "  value m: local f32[1,2]\n"
    "  value d: local f32[1,2]\n"
    "  value p: param f32[32,32]\n"
    "  value l: local f32[1,2,32]\n"
    "  value y: local f32[1,2,32]\n"
    "  op s = add(x, r)\n"
    "  op n, m, d = layernorm(s, w, _) {eps=1e-05}\n"
    "  op l = linear(n, p, _) {in=32, out=32}\n"
    "  op y = add(s, l)\n"
    "  return y\n"
    "end\n";

TEST(Precision, EdgesAndLocalsChangeStatisticsStay) {
  Graph graph = parse_graph(kResidual);
  apply_precision(graph, DType::bf16);
  verify(graph, "precision");
  for (const Value& value : graph.values)
    EXPECT_EQ(value.type.dtype, value.name == "m" || value.name == "d" ? DType::f32 : DType::bf16)
        << value.name;
  Graph same = parse_graph(kResidual);
  apply_precision(same, DType::f32);
  EXPECT_EQ(to_text(same), kResidual);
}

TEST(Fuse, ASumWithOtherUsersIsStillMade) {
  Graph graph = parse_graph(kResidual);
  fuse_add_norm(graph);
  verify(graph, "fuse");
  EXPECT_EQ(ops_in(to_text(graph)),
            "op s, n, m, d = add_layernorm(x, r, w, _)\nop l = linear(n, p, _)\nop y = add(s, l)\n");
  EXPECT_NE(to_text(graph).find("add_layernorm(x, r, w, _) {eps=1e-05}"), std::string::npos);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Fuse, RmsnormLikewise) {
  Graph graph =
      parse_graph(replaced(replaced(kResidual, "n, m, d = layernorm(s, w, _)", "n, d = rmsnorm(s, w)"),
                           "  value m: local f32[1,2]\n", ""));
  fuse_add_norm(graph);
  verify(graph, "fuse");
  EXPECT_EQ(ops_in(to_text(graph)),
            "op s, n, d = add_rmsnorm(x, r, w)\nop l = linear(n, p, _)\nop y = add(s, l)\n");
}

TEST(Fuse, ANormOfAnInputStays) {
  const std::string text =
      replaced(replaced(kResidual, "layernorm(s,", "layernorm(x,"), "s = add(x, r)", "s = add(r, r)");
  Graph graph = parse_graph(text);
  fuse_add_norm(graph);
  EXPECT_EQ(to_text(graph), text);
}

TEST(Fuse, OfTwoNormsOfOneSumTheFirstJoins) {
  std::string text = replaced(kResidual, "  op s =", "  value n2: local f32[1,2,32]\n  op s =");
  text = replaced(text, "  op l =", "  op n2, _, _ = layernorm(s, w, _) {eps=1e-05}\n  op l =");
  Graph graph = parse_graph(text);
  fuse_add_norm(graph);
  EXPECT_EQ(ops_in(to_text(graph)),
            "op s, n, m, d = add_layernorm(x, r, w, _)\nop n2, _, _ = layernorm(s, w, _)\n"
            "op l = linear(n, p, _)\nop y = add(s, l)\n");
}

const char* const kBlock =
    "graph block\n"
    "  value x: input f32[1,2,32]\n"
    "  value w: param f32[32]\n"
    "  value n: local f32[1,2,32]\n"
    "  value d: local f32[1,2]\n"
    "  value p: param f32[32,32]\n"
    "  value l: local f32[1,2,32]\n"
    "  value y: local f32[1,2,32]\n"
    "  op n, d = rmsnorm(x, w) {eps=1e-05}\n"
    "  op l = linear(n, p, _) {in=32, out=32}\n"
    "  op y = add(x, l)\n"
    "  return y\n"
    "end\n";

ValueRole role_of(const Code& code, std::string_view name) {
  for (const Value& value : code.values)
    if (value.name == name) return value.role;
  ADD_FAILURE() << "no value " << name;
  return ValueRole::local;
}

TEST(Autodiff, TheNormTakesUpTheResidualsGradient) {
  const Code code = autodiff(parse_graph(kBlock), BackwardForm::whole);
  verify(code, "autodiff");
  EXPECT_EQ(ops_in(to_text(code)),
            "forward n, d = rmsnorm(x, w)\n"
            "forward l = linear(n, p, _)\n"
            "forward y = add(x, l)\n"
            "backward.input dx = linear_grad_input(y.grad, p)\n"
            "backward.weight p.grad, _ = linear_grad_weight(n, y.grad)\n"
            "backward.input x.grad, w.grad = rmsnorm_grad(x, w, d, dx, y.grad)\n");
  EXPECT_EQ(role_of(code, "y.grad"), ValueRole::output_grad);
  EXPECT_EQ(role_of(code, "x.grad"), ValueRole::input_grad);
  EXPECT_EQ(role_of(code, "p.grad"), ValueRole::param_grad);
  EXPECT_EQ(role_of(code, "y"), ValueRole::output);
  EXPECT_EQ(role_of(code, "n"), ValueRole::saved);
  EXPECT_EQ(role_of(code, "d"), ValueRole::saved);
  EXPECT_EQ(role_of(code, "l"), ValueRole::local) << "nothing in backward reads it";
}

// Two plain users: their gradients are summed.
TEST(Autodiff, OtherwiseGradientsAreAdded) {
  const Code code = autodiff(parse_graph("graph g\n"
                                         "  value x: input f32[1,2,32]\n"
                                         "  value p: param f32[32,32]\n"
                                         "  value l: local f32[1,2,32]\n"
                                         "  value y: local f32[1,2,32]\n"
                                         "  op l = linear(x, p, _) {in=32, out=32}\n"
                                         "  op y = add(x, l)\n"
                                         "  return y\n"
                                         "end\n"),
                             BackwardForm::whole);
  verify(code, "autodiff");
  const std::string ops = ops_in(to_text(code));
  EXPECT_NE(ops.find("backward.input x.grad = add(y.grad, dx)\n"), std::string::npos) << ops;
}

TEST(Autodiff, SplitHoldsWhatCrossesToTheWeightPart) {
  const std::string two = replaced(
      replaced(kBlock, "  op n, d", "  value q: param f32[32,32]\n  value h: local f32[1,2,32]\n  op n, d"),
      "  op l = linear(n, p, _)", "  op h = linear(n, q, _) {in=32, out=32}\n  op l = linear(h, p, _)");
  const Code whole = autodiff(parse_graph(two), BackwardForm::whole);
  const Code split = autodiff(parse_graph(two), BackwardForm::split);
  verify(split, "autodiff");
  EXPECT_EQ(ops_in(to_text(whole)), ops_in(to_text(split)));
  EXPECT_EQ(role_of(whole, "dx"), ValueRole::local);
  EXPECT_EQ(role_of(split, "dx"), ValueRole::held) << "the gradient of h: q's weight gradient reads it later";
  EXPECT_TRUE(values_with(whole.values, ValueRole::held).empty());
  EXPECT_EQ(values_with(split.values, ValueRole::held).size(), 1U);
}

const char* const kHead =
    "graph head\n"
    "  value x: input f32[1,2,32]\n"
    "  value e: param f32[64,32]\n"
    "  value t: batch i32[1,2]\n"
    "  value loss: local f64[2]\n"
    "  value nll: local f32[1,2]\n"
    "  op loss, nll = head_loss(x, e, t) {vocab=64, width=32, z_loss=0.0, softcap=0.0, padding=0, "
    "axis=\"\", ranks=1, rank=0, further_weight=0.0}\n"
    "  return loss\n"
    "end\n";

TEST(Autodiff, TheLossMakesItsGradientInForward) {
  const Code code = autodiff(parse_graph(kHead), BackwardForm::whole);
  const std::string ops = ops_in(to_text(code));
  EXPECT_EQ(ops.substr(0, ops.find('\n')), "forward loss, nll, x.grad, e.grad = head_loss_grad(x, e, e, t)")
      << ops;
}

TEST(Pack, UsesOfOneKindShareACopy) {
  Code code = autodiff(parse_graph(kBlock), BackwardForm::whole);
  pack_weights(code);
  verify(code, "pack");
  EXPECT_EQ(ops_in(to_text(code)),
            "prepare p.forward = pack(p)\n"
            "prepare p.input_grad = pack(p)\n"
            "forward n, d = rmsnorm(x, w)\n"
            "forward l = linear(n, p.forward, _)\n"
            "forward y = add(x, l)\n"
            "backward.input dx = linear_grad_input(y.grad, p.input_grad)\n"
            "backward.weight p.grad, _ = linear_grad_weight(n, y.grad)\n"
            "backward.input x.grad, w.grad = rmsnorm_grad(x, w, d, dx, y.grad)\n");
  Code twice = forward_only(parse_graph(replaced(
      replaced(kBlock, "  op n, d", "  value h: local f32[1,2,32]\n  op n, d"), "  op l = linear(n, p, _)",
      "  op h = linear(n, p, _) {in=32, out=32}\n  op l = linear(h, p, _)")));
  pack_weights(twice);
  verify(twice, "pack");
  EXPECT_EQ(twice.prepare.size(), 1U);
}

// Two experts of 32 -> 2 x 32 -> 32, one for each token.
const char* const kExperts =
    "graph g\n"
    "  value x: input f32[1,4,32]\n"
    "  value r: param f32[2,32]\n"
    "  value p: param f32[2,64,32]\n"
    "  value q: param f32[2,32,32]\n"
    "  value ids: local i32[1,4,1]\n"
    "  value weights: local f32[1,4,1]\n"
    "  value scores: local f32[1,4,2]\n"
    "  value counts: local f32[1,2]\n"
    "  value balanced: local f32[1,4,1]\n"
    "  value y: local f32[1,4,32]\n"
    "  value rows: local f32[0,32]\n"
    "  value hidden: local f32[4,64]\n"
    "  value plan: local i32[1,2]\n"
    "  op ids, weights, scores, counts = router(x, r, _) {experts=2, top_k=1, score=\"softmax\", "
    "normalize=0, "
    "softmax_after=0, groups=1, top_groups=1, scale=1.0, z_loss=0.0, capacity_factor=0.0, "
    "counts_per=\"micro_batch\"}\n"
    "  op balanced = balance(weights, scores, counts) {experts=2, top_k=1, coefficient=0.01, tokens=4}\n"
    "  op y, rows, hidden, plan = experts(x, ids, balanced, p, q) {experts=2, top_k=1, width=32, ffn=32, "
    "receive_factor=0.0, axis=\"\", ranks=1, rank=0}\n"
    "  return y\n"
    "end\n";

TEST(Pack, ExpertsAreWeightsToo) {
  Code code = autodiff(parse_graph(kExperts), BackwardForm::whole);
  pack_weights(code);
  verify(code, "pack");
  EXPECT_EQ(ops_in(to_text(code)),
            "prepare p.forward = pack(p)\n"
            "prepare q.forward = pack(q)\n"
            "prepare p.input_grad = pack(p)\n"
            "prepare q.input_grad = pack(q)\n"
            "forward ids, weights, scores, counts = router(x, r, _)\n"
            "forward balanced = balance(weights, scores, counts)\n"
            "forward y, rows, hidden, plan = experts(x, ids, balanced, p.forward, q.forward)\n"
            "backward.input experts.dx, experts.dweights, p.grad, q.grad = experts_grad(y.grad, ids, "
            "balanced, _, "
            "hidden, p.input_grad, q.input_grad, x, _, _)\n"
            "backward.input balance.dscores = balance_grad(scores, counts)\n"
            "backward.input router.dx, r.grad, _ = router_grad(x, r, ids, scores, experts.dweights, "
            "balance.dscores)\n"
            "backward.input x.grad = add(experts.dx, router.dx)\n");
}

// With more rows than room, backward makes hidden again: it reads x, and gate_up as forward does.
TEST(Pack, RoundsReadAWeightInBothForms) {
  const std::string rounds = replaced(replaced(replaced(kExperts, "receive_factor=0.0, axis=\"\", ranks=1",
                                                        "receive_factor=1.5, axis=\"ep\", ranks=2"),
                                               "p: param f32[2,64,32]", "p: param f32[1,64,32]"),
                                      "q: param f32[2,32,32]", "q: param f32[1,32,32]");
  Code code = autodiff(
      parse_graph(replaced(replaced(replaced(rounds, "rows: local f32[0,32]", "rows: local f32[6,32]"),
                                    "hidden: local f32[4,64]", "hidden: local f32[6,64]"),
                           "plan: local i32[1,2]", "plan: local i32[2,2]")),
      BackwardForm::whole);
  pack_weights(code);
  verify(code, "pack");
  EXPECT_NE(ops_in(to_text(code)).find("hidden, p.input_grad, q.input_grad, x, plan, p.forward)\n"),
            std::string::npos)
      << ops_in(to_text(code));
}

TEST(Decode, AttentionGetsACache) {
  Graph graph = parse_graph(
      "graph g\n"
      "  value qkv: input f32[1,2,48]\n"
      "  value y: local f32[1,2,16]\n"
      "  value lse: local f32[1,2,2]\n"
      "  op y, lse = attention(qkv, _) {heads=2, kv_heads=2, head_dim=8, window=0, softcap=0.0, scale=0.0}\n"
      "  return y\n"
      "end\n");
  add_kv_cache(graph, 128);
  verify(graph, "decode");
  const std::string text = to_text(graph);
  EXPECT_EQ(ops_in(text), "op y, k_cache, v_cache = cached_attention(qkv, length)\n");
  EXPECT_NE(text.find("value k_cache: state f32[1,128,16]"), std::string::npos) << text;
  EXPECT_NE(text.find("value length: batch i32[1]"), std::string::npos) << text;
}

// --- verify -----------------------------------------------------------------------------------------------

void expect_refused(const std::string& from, const std::string& to, const char* message) {
  verify(parse_graph(kBlock), "test");
  EXPECT_DEATH(verify(parse_graph(replaced(kBlock, from, to)), "test"), message);
}

TEST(Verify, DiesOfEveryBreach) {
  expect_refused("add(x, l)", "plus(x, l)", "no op is called plus");
  expect_refused("add(x, l)", "add(x, l, x)", "too many operands");
  expect_refused("add(x, l)", "add(x)", "operand b is missing");
  expect_refused("add(x, l)", "add(x, _)", "operand b is missing");
  expect_refused("add(x, l)", "add(x, w)", "a and b have one type");
  expect_refused("y: local f32[1,2,32]", "y: local bf16[1,2,32]", "y is bf16.1,2,32., not f32.1,2,32.");
  expect_refused("op n, d = rmsnorm(x, w)", "op n, d = rmsnorm(l, w)", "l is used before it is made");
  expect_refused("op y = add(x, l)", "op l = add(x, n)", "l is made twice");
  expect_refused("op y = add(x, l)", "op x = add(x, l)", "x is made twice");
  expect_refused("  op y = add(x, l)\n", "", "an output is never made");
  Graph graph = parse_graph(kBlock);
  graph.values[1].name = "x";
  EXPECT_DEATH(verify(graph, "test"), "two values are called x");
  graph = parse_graph(kBlock);
  graph.ops[0].inputs[0] = ValueId(99);
  EXPECT_DEATH(verify(graph, "test"), "no value 99");
}

TEST(Verify, OfCode) {
  Code code = autodiff(parse_graph(kBlock), BackwardForm::whole);
  Code bad = code;
  bad.parts.pop_back();
  EXPECT_DEATH(verify(bad, "test"), "parts and backward ops differ in number");
  bad = code;
  bad.parts[0] = Part::weight;  // the input part reads what the weight part makes
  EXPECT_DEATH(verify(bad, "test"), "dx is used before it is made");
  bad = code;
  for (Value& value : bad.values)
    if (value.role == ValueRole::param_grad) value.role = ValueRole::local;
  EXPECT_DEATH(verify(bad, "test"), "is added to but is no accumulator");
}

}  // namespace
}  // namespace trireme
