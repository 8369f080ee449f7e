// What autodiff makes of sharded blocks. The conjugate operators f and g of Megatron-LM (Shoeybi et al. 2019,
// section 3) and their forms with sequence parallelism (Korthikanti et al. 2022, section 4.2) are to be seen.
#include <gtest/gtest.h>

#include "passes/autodiff.h"
#include "passes/recompute.h"
#include "passes/shard_text.h"

namespace trireme::test {
namespace {

// The op lines of a code, without attributes, and its values that are neither local nor parameters: their
// role, name and shape.
std::string outline(const Code& code) {
  std::string ops, values;
  const std::string text = to_text(code);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.find(" = ") != std::string::npos) ops += line.substr(2, line.find(" {") - 2) + "\n";
    begin = end + 1;
  }
  for (const Value& value : code.values)
    if (value.role != ValueRole::local && value.role != ValueRole::param && value.role != ValueRole::batch)
      values += value.name + ": " + std::string(name_of(value.role)) + " " + to_string(value.type) +
                (value.placements == Placements{} ? "" : " " + to_string(value.placements)) + "\n";
  return values + ops;
}

Code code_of(const Graph& graph, const ShardPlan& plan, BackwardForm form) {
  Code code = autodiff(graph, form, {"tp", plan.params.tp, plan.params.tp_rank});
  verify(code, "autodiff");
  recompute(code, form, Rerun::gathers);
  verify(code, "recompute");
  return code;
}

// Of one rank of two of tp.
std::string gradient(const std::string& text, const std::vector<ParamUse>& uses, bool sequence,
                     BackwardForm form = BackwardForm::whole) {
  const ShardPlan plan = tensor_plan(2, 1, sequence);
  return outline(code_of(cut(text, uses, plan), plan, form));
}

// f: identity forward, all_reduce of the gradient of what every rank reads. g: all_reduce forward, identity
// backward.
TEST(ShardGradient, HasMegatronsFAndG) {
  EXPECT_EQ(gradient(kMlp, kMlpUses, false), whole_text(R"(
x: input f32[2,4,8]
a: saved f32[2,4,6] tp=shard(2)
h: saved f32[2,4,6] tp=shard(2)
y: output f32[2,4,8]
y.grad: output_grad f32[2,4,8]
down.bias.grad: param_grad f32[8]
down.grad: param_grad f32[8,6] tp=shard(1)
up.grad: param_grad f32[6,8] tp=shard(0)
up.bias.grad: param_grad f32[6] tp=shard(0)
x.grad: input_grad f32[2,4,8]
forward a = linear(x, up, up.bias)
forward h = activation(a)
forward y.addend = linear(h, down, _)
forward y.addend.tp.whole = all_reduce(y.addend)
forward y = add_bias(y.addend.tp.whole, down.bias)
backward.weight down.bias.grad = add_bias_grad(y.grad)
backward.input dx = linear_grad_input(y.grad, down)
backward.weight down.grad, _ = linear_grad_weight(h, y.grad)
backward.input activation.dx = activation_grad(a, dx)
backward.input dx.2 = linear_grad_input(activation.dx, up)
backward.weight up.grad, up.bias.grad = linear_grad_weight(x, activation.dx)
backward.input x.grad = all_reduce(dx.2)
)"));
}

// f: all_gather forward, reduce_scatter backward; g the other way round. x is kept as its slice and gathered
// again for the gradient of up.
TEST(ShardGradient, WithSequence) {
  EXPECT_EQ(gradient(kMlp, kMlpUses, true), whole_text(R"(
x: input f32[1,4,8] tp=rows
a: saved f32[2,4,6] tp=shard(2)
h: saved f32[2,4,6] tp=shard(2)
y: output f32[1,4,8] tp=rows
y.grad: output_grad f32[1,4,8] tp=rows
down.bias.grad: param_grad f32[8] tp=partial
down.grad: param_grad f32[8,6] tp=shard(1)
up.grad: param_grad f32[6,8] tp=shard(0)
up.bias.grad: param_grad f32[6] tp=shard(0)
x.grad: input_grad f32[1,4,8]
forward x.tp.whole = all_gather(x)
forward a = linear(x.tp.whole, up, up.bias)
forward h = activation(a)
forward y.addend = linear(h, down, _)
forward y.addend.tp.rows = reduce_scatter(y.addend)
forward y = add_bias(y.addend.tp.rows, down.bias)
backward.weight down.bias.grad = add_bias_grad(y.grad)
backward.input dx = all_gather(y.grad)
backward.input dx.2 = linear_grad_input(dx, down)
backward.weight down.grad, _ = linear_grad_weight(h, dx)
backward.input activation.dx = activation_grad(a, dx.2)
backward.input dx.3 = linear_grad_input(activation.dx, up)
backward.weight x.tp.whole.again = all_gather(x)
backward.weight up.grad, up.bias.grad = linear_grad_weight(x.tp.whole.again, activation.dx)
backward.input x.grad = reduce_scatter(dx.3)
)"));
}

// What the input part has gathered and the weight part reads is held between them; what the weight part alone
// reads is gathered there.
TEST(ShardGradient, InTwoPartsHoldsWhatCrosses) {
  EXPECT_EQ(gradient(kMlp, kMlpUses, true, BackwardForm::split), whole_text(R"(
x: input f32[1,4,8] tp=rows
a: saved f32[2,4,6] tp=shard(2)
h: saved f32[2,4,6] tp=shard(2)
y: output f32[1,4,8] tp=rows
y.grad: output_grad f32[1,4,8] tp=rows
down.bias.grad: param_grad f32[8] tp=partial
dx: held f32[2,4,8]
down.grad: param_grad f32[8,6] tp=shard(1)
activation.dx: held f32[2,4,6]
up.grad: param_grad f32[6,8] tp=shard(0)
up.bias.grad: param_grad f32[6] tp=shard(0)
x.grad: input_grad f32[1,4,8]
forward x.tp.whole = all_gather(x)
forward a = linear(x.tp.whole, up, up.bias)
forward h = activation(a)
forward y.addend = linear(h, down, _)
forward y.addend.tp.rows = reduce_scatter(y.addend)
forward y = add_bias(y.addend.tp.rows, down.bias)
backward.weight down.bias.grad = add_bias_grad(y.grad)
backward.input dx = all_gather(y.grad)
backward.input dx.2 = linear_grad_input(dx, down)
backward.weight down.grad, _ = linear_grad_weight(h, dx)
backward.input activation.dx = activation_grad(a, dx.2)
backward.input dx.3 = linear_grad_input(activation.dx, up)
backward.weight x.tp.whole.again = all_gather(x)
backward.weight up.grad, up.bias.grad = linear_grad_weight(x.tp.whole.again, activation.dx)
backward.input x.grad = reduce_scatter(dx.3)
)"));
}

// The same of what is gathered again for both parts. Attention has no heads to be cut here: each rank runs
// all.
TEST(ShardGradient, InTwoPartsHoldsWhatBothReadGathered) {
  const char* const both = R"(graph both
  value x: input f32[1,4,12]
  value att: local f32[1,4,4]
  value lse: local f32[1,2,4]
  value up: param f32[6,12]
  value h: local f32[1,4,6]
  value down: param f32[4,6]
  value d: local f32[1,4,4]
  value y: local f32[1,4,4]
  op att, lse = attention(x, _) {heads=2, kv_heads=2, head_dim=2, window=0, softcap=0.0, scale=0.0}
  op h = linear(x, up, _) {in=12, out=6}
  op d = linear(h, down, _) {in=6, out=4}
  op y = add(att, d)
  return y
end
)";
  EXPECT_EQ(gradient(both, {{ParamRole::column, {}, 1}, {ParamRole::row, {}, 1}}, true, BackwardForm::split),
            whole_text(R"(
x: input f32[1,2,12] tp=rows
att: saved f32[1,4,4]
lse: saved f32[1,2,4]
h: saved f32[1,4,3] tp=shard(2)
y: output f32[1,2,4] tp=rows
y.grad: output_grad f32[1,2,4] tp=rows
dx: held f32[1,4,4]
dx.3: held f32[1,4,3]
down.grad: param_grad f32[4,3] tp=shard(1)
up.grad: param_grad f32[3,12] tp=shard(0)
x.grad: input_grad f32[1,2,12]
x.tp.whole.again: held f32[1,4,12]
forward x.tp.whole = all_gather(x)
forward att, lse = attention(x.tp.whole, _)
forward h = linear(x.tp.whole, up, _)
forward d = linear(h, down, _)
forward att.tp.rows = slice(att)
forward d.tp.rows = reduce_scatter(d)
forward y = add(att.tp.rows, d.tp.rows)
backward.input dx = all_gather(y.grad)
backward.input dx.2 = all_gather(y.grad)
backward.input dx.3 = linear_grad_input(dx, down)
backward.weight down.grad, _ = linear_grad_weight(h, dx)
backward.input dx.4 = linear_grad_input(dx.3, up)
backward.input x.tp.whole.again = all_gather(x)
backward.weight up.grad, _ = linear_grad_weight(x.tp.whole.again, dx.3)
backward.input dqkv = attention_grad(x.tp.whole.again, att, lse, dx.2, _)
backward.input dx.5 = reduce_scatter(dx.4)
backward.input dx.6 = slice(dqkv)
backward.input x.grad = add(dx.5, dx.6)
)"));
}

// The gain is read whole by all, who have all rows: its gradient is whole.
TEST(ShardGradient, OfNormsAndResiduals) {
  EXPECT_EQ(gradient(kAttention, kAttentionUses, false), whole_text(R"(
x: input f32[1,4,8]
n: saved f32[1,4,8]
r: saved f32[1,4]
turned: saved f32[1,4,8] tp=shard(2)
att: saved f32[1,4,4] tp=shard(2)
lse: saved f32[1,2,4] tp=shard(1)
y: output f32[1,4,8]
y.grad: output_grad f32[1,4,8]
out.weight.grad: param_grad f32[8,4] tp=shard(1)
qkv.weight.grad: param_grad f32[8,8] tp=shard(0)
gain.grad: param_grad f32[8]
x.grad: input_grad f32[1,4,8]
forward n, r = rmsnorm(x, gain)
forward qkv = linear(n, qkv.weight, _)
forward turned = rope(qkv, _)
forward att, lse = attention(turned, _)
forward out = linear(att, out.weight, _)
forward out.tp.whole = all_reduce(out)
forward y = add(x, out.tp.whole)
backward.input dx = linear_grad_input(y.grad, out.weight)
backward.weight out.weight.grad, _ = linear_grad_weight(att, y.grad)
backward.input dqkv = attention_grad(turned, att, lse, dx, _)
backward.input rope.dx = rope(dqkv, _)
backward.input dx.2 = linear_grad_input(rope.dx, qkv.weight)
backward.weight qkv.weight.grad, _ = linear_grad_weight(n, rope.dx)
backward.input n.grad = all_reduce(dx.2)
backward.input x.grad, gain.grad = rmsnorm_grad(x, gain, r, n.grad, y.grad)
)"));
}

// Here each rank's rows give an addend of it.
TEST(ShardGradient, OfNormsAndResidualsOnRows) {
  EXPECT_EQ(gradient(kAttention, kAttentionUses, true), whole_text(R"(
x: input f32[1,2,8] tp=rows
n: saved f32[1,2,8] tp=rows
r: saved f32[1,2] tp=rows
turned: saved f32[1,4,8] tp=shard(2)
att: saved f32[1,4,4] tp=shard(2)
lse: saved f32[1,2,4] tp=shard(1)
y: output f32[1,2,8] tp=rows
y.grad: output_grad f32[1,2,8] tp=rows
out.weight.grad: param_grad f32[8,4] tp=shard(1)
qkv.weight.grad: param_grad f32[8,8] tp=shard(0)
gain.grad: param_grad f32[8] tp=partial
x.grad: input_grad f32[1,2,8]
forward n, r = rmsnorm(x, gain)
forward n.tp.whole = all_gather(n)
forward qkv = linear(n.tp.whole, qkv.weight, _)
forward turned = rope(qkv, _)
forward att, lse = attention(turned, _)
forward out = linear(att, out.weight, _)
forward out.tp.rows = reduce_scatter(out)
forward y = add(x, out.tp.rows)
backward.input dx = all_gather(y.grad)
backward.input dx.2 = linear_grad_input(dx, out.weight)
backward.weight out.weight.grad, _ = linear_grad_weight(att, dx)
backward.input dqkv = attention_grad(turned, att, lse, dx.2, _)
backward.input rope.dx = rope(dqkv, _)
backward.input dx.3 = linear_grad_input(rope.dx, qkv.weight)
backward.weight n.tp.whole.again = all_gather(n)
backward.weight qkv.weight.grad, _ = linear_grad_weight(n.tp.whole.again, rope.dx)
backward.input dx.4 = reduce_scatter(dx.3)
backward.input x.grad, gain.grad = rmsnorm_grad(x, gain, r, dx.4, y.grad)
)"));
}

const char* const kHeadNorms = R"(graph heads
  value x: input f32[1,4,8]
  value w: param f32[16,8]
  value qkv: local f32[1,4,16]
  value q: param f32[2]
  value k: param f32[2]
  value y: local f32[1,4,16]
  value rstd: local f32[1,4,6]
  value out: param f32[8,16]
  value z: local f32[1,4,8]
  op qkv = linear(x, w, _) {in=8, out=16}
  op y, rstd = qk_norm(qkv, q, k) {heads=4, kv_heads=2, head_dim=2, eps=1e-06}
  op z = linear(y, out, _) {in=16, out=8}
  return z
end
)";
const std::vector<ParamUse> kHeadNormsUses = {
    {ParamRole::column, {8, 4, 4}, 2}, {}, {}, {ParamRole::row, {8, 4, 4}, 2}};

// Weights of query and key norms are whole, but a rank normalises its own heads only.
TEST(ShardGradient, OfHeadNormsIsAnAddend) {
  EXPECT_EQ(gradient(kHeadNorms, kHeadNormsUses, false), whole_text(R"(
x: input f32[1,4,8]
qkv: saved f32[1,4,8] tp=shard(2)
y: saved f32[1,4,8] tp=shard(2)
rstd: saved f32[1,4,3] tp=shard(2)
z.tp.whole: output f32[1,4,8]
z.tp.whole.grad: output_grad f32[1,4,8]
out.grad: param_grad f32[8,8] tp=shard(1)
q.grad: param_grad f32[2] tp=partial
k.grad: param_grad f32[2] tp=partial
w.grad: param_grad f32[8,8] tp=shard(0)
x.grad: input_grad f32[1,4,8]
forward qkv = linear(x, w, _)
forward y, rstd = qk_norm(qkv, q, k)
forward z = linear(y, out, _)
forward z.tp.whole = all_reduce(z)
backward.input dx = linear_grad_input(z.tp.whole.grad, out)
backward.weight out.grad, _ = linear_grad_weight(y, z.tp.whole.grad)
backward.input qk_norm.dqkv, q.grad, k.grad = qk_norm_grad(qkv, q, k, rstd, dx)
backward.input dx.2 = linear_grad_input(qk_norm.dqkv, w)
backward.weight w.grad, _ = linear_grad_weight(x, qk_norm.dqkv)
backward.input x.grad = all_reduce(dx.2)
)"));
}

// Two readers give addends each: these are summed on the rank, then once over the ranks.
TEST(ShardGradient, OfWhatTwoReadIsReducedOnce) {
  EXPECT_EQ(gradient(kTwoReaders, kTwoReadersUses, true), whole_text(R"(
x: input f32[1,4,8] tp=rows
b: saved f32[2,4,6] tp=shard(2)
c2: saved f32[2,4,3] tp=shard(2)
y.tp.rows: output f32[1,4,8] tp=rows
y.tp.rows.grad: output_grad f32[1,4,8] tp=rows
u.grad: param_grad f32[8,3] tp=shard(1)
w.grad: param_grad f32[6,8] tp=shard(0)
v.grad: param_grad f32[3,8] tp=shard(0)
x.grad: input_grad f32[1,4,8]
forward x.tp.whole = all_gather(x)
forward a = linear(x.tp.whole, v, _)
forward b = linear(x.tp.whole, w, _)
forward c = swiglu(b)
forward c2 = add(a, c)
forward y = linear(c2, u, _)
forward y.tp.rows = reduce_scatter(y)
backward.input dx = all_gather(y.tp.rows.grad)
backward.input dx.2 = linear_grad_input(dx, u)
backward.weight u.grad, _ = linear_grad_weight(c2, dx)
backward.input swiglu.dgate_up = swiglu_grad(b, dx.2)
backward.input dx.3 = linear_grad_input(swiglu.dgate_up, w)
backward.weight x.tp.whole.again = all_gather(x)
backward.weight w.grad, _ = linear_grad_weight(x.tp.whole.again, swiglu.dgate_up)
backward.input dx.4 = linear_grad_input(dx.2, v)
backward.input x.tp.whole.grad = add(dx.3, dx.4)
backward.weight v.grad, _ = linear_grad_weight(x.tp.whole.again, dx.2)
backward.input x.grad = reduce_scatter(x.tp.whole.grad)
)"));
}

TEST(ShardGradient, OfTheVocabulary) {
  EXPECT_EQ(gradient(kEmbed, kEmbedUses, true), whole_text(R"(
x: output f32[1,4,8] tp=rows
positions.tp.rows: saved i32[1,4] tp=rows
x.grad: output_grad f32[1,4,8] tp=rows
learned.grad: param_grad f32[4,8] tp=partial
table.grad: param_grad f32[5,8] tp=shard(0)
forward e = embedding(tokens, table)
forward e.tp.rows = reduce_scatter(e)
forward positions.tp.rows = slice(positions)
forward x = positions(e.tp.rows, learned, positions.tp.rows)
backward.weight learned.grad = positions_grad(x.grad, positions.tp.rows)
backward.weight dx = all_gather(x.grad)
backward.weight table.grad = embedding_grad(tokens, dx)
)"));
}

// dx of the head is an addend of each rank's part of the vocabulary.
TEST(ShardGradient, OfTheLoss) {
  EXPECT_EQ(gradient(kHead, kHeadUses, true), whole_text(R"(
x: input f32[1,4,8] tp=rows
r: saved f32[1,4] tp=rows
loss: output f64[2]
table.grad: param_grad f32[5,8] tp=shard(0)
dx: saved f32[2,4,8]
gain.grad: param_grad f32[8] tp=partial
x.grad: input_grad f32[1,4,8]
forward n, r = rmsnorm(x, gain)
forward n.tp.whole = all_gather(n)
forward loss, nll, dx, table.grad = head_loss_grad(n.tp.whole, table, table, targets)
backward.input dx.2 = reduce_scatter(dx)
backward.input x.grad, gain.grad = rmsnorm_grad(x, gain, r, dx.2, _)
)"));
}

}  // namespace
}  // namespace trireme::test
