// What backward computes again, of the plain block and of the one that tp ranks share, as text.
#include "passes/recompute.h"

#include <gtest/gtest.h>

#include "passes/autodiff.h"
#include "passes/shard_text.h"

namespace trireme::test {
namespace {

// Values kept for backward or between its parts, then the ops of backward without attributes.
std::string outline(const Code& code) {
  std::string made;
  for (const Value& value : code.values)
    if (value.role == ValueRole::saved || value.role == ValueRole::held)
      made += std::string(name_of(value.role)) + " " + value.name + "\n";
  const std::string text = to_text(code);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("  backward.")) made += line.substr(11, line.find(" {") - 11) + "\n";
    begin = end + 1;
  }
  return made;
}

std::string rerun(const Graph& graph, Rerun which, BackwardForm form = BackwardForm::whole,
                  const AxisAttrs& tp = {}) {
  Code code = autodiff(graph, form, tp);
  const std::vector<Op> forward = code.forward;
  recompute(code, form, which);
  verify(code, "recompute");
  EXPECT_EQ(code.forward, forward);
  EXPECT_EQ(to_text(parse_code(to_text(code))), to_text(code));
  return outline(code);
}

constexpr const char* kLayer = R"(graph layer
  value x: input f32[1,4,16]
  value gain: param f32[16]
  value n: local f32[1,4,16]
  value r: local f32[1,4]
  value up: param f32[64,16]
  value a: local f32[1,4,64]
  value h: local f32[1,4,64]
  value down: param f32[16,64]
  value d: local f32[1,4,16]
  value y: local f32[1,4,16]
  op n, r = rmsnorm(x, gain) {eps=1e-05}
  op a = linear(n, up, _) {in=16, out=64}
  op h = activation(a) {kind="relu2"}
  op d = linear(h, down, _) {in=64, out=16}
  op y = add(x, d)
  return y
end
)";

TEST(Recompute, OfGathersAloneLeavesAPlainBlockAsItIs) {
  const Graph layer = parse_graph(kLayer);
  Code code = autodiff(layer, BackwardForm::whole);
  const Code before = code;
  recompute(code, BackwardForm::whole, Rerun::gathers);
  EXPECT_TRUE(code == before);
}

// Products stay; each of the others comes in front of its first reader.
TEST(Recompute, OfWhatIsCheap) {
  EXPECT_EQ(rerun(parse_graph(kLayer), Rerun::cheap), whole_text(R"(
saved a
input dx = linear_grad_input(y.grad, down)
weight h.again = activation(a)
weight down.grad, _ = linear_grad_weight(h.again, y.grad)
input activation.dx = activation_grad(a, dx)
input dx.2 = linear_grad_input(activation.dx, up)
input n.again, r.again = rmsnorm(x, gain)
weight up.grad, _ = linear_grad_weight(n.again, activation.dx)
input x.grad, gain.grad = rmsnorm_grad(x, gain, r.again, dx.2, y.grad)
)"));
}

// Nothing is kept, and neither the last product nor the sum behind it runs again.
TEST(Recompute, OfAll) {
  EXPECT_EQ(rerun(parse_graph(kLayer), Rerun::all), whole_text(R"(
input dx = linear_grad_input(y.grad, down)
input n.again, r.again = rmsnorm(x, gain)
input a.again = linear(n.again, up, _)
input h.again = activation(a.again)
weight down.grad, _ = linear_grad_weight(h.again, y.grad)
input activation.dx = activation_grad(a.again, dx)
input dx.2 = linear_grad_input(activation.dx, up)
weight up.grad, _ = linear_grad_weight(n.again, activation.dx)
input x.grad, gain.grad = rmsnorm_grad(x, gain, r.again, dx.2, y.grad)
)"));
}

// The weight part computes again what it alone reads and what needs no parameter; the rest it is handed.
TEST(Recompute, InTwoParts) {
  const auto held = [](Rerun which) {
    const std::string text = rerun(parse_graph(kLayer), which, BackwardForm::split);
    return text.substr(0, text.find("input"));
  };
  EXPECT_EQ(held(Rerun::cheap), "saved a\nheld activation.dx\nheld n.again\n");
  EXPECT_EQ(held(Rerun::all), "held activation.dx\nheld n.again\nheld h.again\n");
}

// A product that the weight part alone reads runs in the input part, where its weights are.
TEST(Recompute, OfWhatReadsAParameterIsOfTheInputPart) {
  const Graph graph = parse_graph(R"(graph g
  value x: input f32[1,4,16]
  value up: param f32[32,16]
  value a: local f32[1,4,32]
  value down: param f32[16,32]
  value y: local f32[1,4,16]
  op a = linear(x, up, _) {in=16, out=32}
  op y = linear(a, down, _) {in=32, out=16}
  return y
end
)");
  EXPECT_EQ(rerun(graph, Rerun::all, BackwardForm::split), whole_text(R"(
held dx
held a.again
input dx = linear_grad_input(y.grad, down)
input a.again = linear(x, up, _)
weight down.grad, _ = linear_grad_weight(a.again, y.grad)
input x.grad = linear_grad_input(dx, up)
weight up.grad, _ = linear_grad_weight(x, dx)
)"));
}

// An op that would need as much kept as it makes stays as it is: of a rotation of a product, either is kept.
TEST(Recompute, NotOfWhatSavesNothing) {
  const Graph graph = parse_graph(spelled_out(R"(graph g
  value x: input f32[1,16,32]
  value w: param f32[64,32]
  value qkv: local f32[1,16,64]
  value turned: local f32[1,16,64]
  value att: local f32[1,16,32]
  value lse: local f32[1,4,16]
  op qkv = linear(x, w, _) {in=32, out=64}
  op turned = rope(qkv, _) {heads=4, kv_heads=2, head_dim=8, ..}
  op att, lse = attention(turned, _) {heads=4, kv_heads=2, head_dim=8, window=0, softcap=0.0, scale=0.0}
  return att
end
)"));
  const std::string text = rerun(graph, Rerun::cheap);
  EXPECT_EQ(text.find("again"), std::string::npos) << text;
  EXPECT_EQ(text.substr(0, text.find("input")), "saved turned\nsaved lse\n");
}

// The rank's rows are normed again and then gathered again; the sum over ranks is not repeated.
TEST(Recompute, OfCheapOpsBetweenRanks) {
  const std::vector<ParamUse> uses = {{}, {ParamRole::column, {}, 1}, {ParamRole::row, {}, 1}};
  const Graph graph = cut(kLayer, uses, tensor_plan(2, 1, true));
  EXPECT_EQ(rerun(graph, Rerun::cheap, BackwardForm::whole, {"tp", 2, 1}), whole_text(R"(
saved a
input dx = all_gather(y.grad)
input dx.2 = linear_grad_input(dx, down)
weight h.again = activation(a)
weight down.grad, _ = linear_grad_weight(h.again, dx)
input activation.dx = activation_grad(a, dx.2)
input dx.3 = linear_grad_input(activation.dx, up)
input n.again, r.again = rmsnorm(x, gain)
input n.tp.whole.again = all_gather(n.again)
weight up.grad, _ = linear_grad_weight(n.tp.whole.again, activation.dx)
input dx.4 = reduce_scatter(dx.3)
input x.grad, gain.grad = rmsnorm_grad(x, gain, r.again, dx.4, y.grad)
)"));
}

}  // namespace
}  // namespace trireme::test
