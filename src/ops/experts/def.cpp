// Definitions of experts and experts_grad.
#include <algorithm>
#include <cmath>

#include "ops/experts/experts.h"
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/linear/linear.h"
#include "ops/shape_rule.h"

namespace trireme {

void reference_experts(const OpSig& sig, const Operands& operands);
void reference_experts_grad(const OpSig& sig, const Operands& operands);
std::vector<OpCase> experts_cases();
std::vector<OpCase> experts_grad_cases();

ExpertsSizes experts_sizes(const ExpertsAttrs& a, const TensorType& x) {
  ExpertsSizes s{.tokens = x.shape[0] * x.shape[1],
                 .top_k = a.top_k,
                 .experts = a.experts,
                 .owned = a.experts / a.axis.ranks,
                 .width = a.width,
                 .ffn = a.ffn,
                 .ranks = a.axis.ranks,
                 .rank = a.axis.rank,
                 .dtype = x.dtype};
  const int64_t most = s.ranks * s.choices();
  s.room = most;
  if (s.ranks > 1 && a.receive_factor > 0) {
    const double wanted = std::ceil(a.receive_factor * static_cast<double>(s.choices()));
    s.room = std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, most);
  }
  s.rounds = s.room < most;
  return s;
}

namespace {

using In = ExpertsIn;
using Out = ExpertsOut;
using GradIn = ExpertsGradIn;
using GradOut = ExpertsGradOut;

// Shape rules

// [owned,out,in], or each packed for `use`.
bool is_expert_weight(const TensorType& type, const ExpertsSizes& s, const LinearAttrs& each,
                      const std::string& use) {
  if (type.dtype != s.dtype) return false;
  if (is_packed(type)) return type.shape[0] == s.owned * packed_count(each.out, each.in, use);
  return type.shape == Shape{s.owned, each.out, each.in};
}

LinearAttrs gate_up_of(const ExpertsSizes& s) { return {.in = s.width, .out = 2 * s.ffn}; }
LinearAttrs down_of(const ExpertsSizes& s) { return {.in = s.ffn, .out = s.width}; }

// x (or dy), ids, weights.
ExpertsSizes expect_tokens(std::string_view op, const ExpertsAttrs& a, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && in[0].shape.size() == 3 && in[0].shape[2] == a.width, op,
               "tokens must be [B,T,width]", in);
  expect_types(a.axis.ranks > 0 && a.experts % a.axis.ranks == 0, op, "the ranks must divide the experts",
               in);
  const Shape choices = {in[0].shape[0], in[0].shape[1], a.top_k};
  expect_types(in[1] == TensorType{DType::i32, choices} && in[2] == TensorType{DType::f32, choices}, op,
               "ids must be i32[B,T,k], weights f32[B,T,k]", in);
  return experts_sizes(a, in[0]);
}

TensorType rows_type(const ExpertsSizes& s) { return {s.dtype, {s.ranks > 1 ? s.room : 0, s.width}}; }
TensorType hidden_type(const ExpertsSizes& s) { return {s.dtype, {s.room, 2 * s.ffn}}; }
TensorType plan_type(const ExpertsSizes& s) { return {DType::i32, {s.ranks, s.experts}}; }

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  const ExpertsSizes s = expect_tokens("experts", unpack_attrs<ExpertsAttrs>(attrs), in);
  expect_types(is_expert_weight(in[In::gate_up], s, gate_up_of(s), "forward") &&
                   is_expert_weight(in[In::down], s, down_of(s), "forward"),
               "experts", "gate_up must be [E,2F,C] and down [E,C,F], or packed for forward, of x's dtype",
               in);
  return {in[0], rows_type(s), hidden_type(s), plan_type(s)};
}

std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  const ExpertsSizes s = expect_tokens("experts_grad", unpack_attrs<ExpertsAttrs>(attrs), in);
  expect_types((s.ranks == 1 || in[GradIn::rows] == rows_type(s)) && in[GradIn::hidden] == hidden_type(s),
               "experts_grad", "rows must be [R,C], hidden [R,2F]", in);
  expect_types((s.ranks > 1 && !s.rounds) || in[GradIn::x] == in[GradIn::dy], "experts_grad",
               "x must have dy's type", in);
  expect_types(is_expert_weight(in[GradIn::gate_up], s, gate_up_of(s), "input_grad") &&
                   is_expert_weight(in[GradIn::down], s, down_of(s), "input_grad"),
               "experts_grad", "the weights must be plain or packed for input_grad, of dy's dtype", in);
  expect_types(s.ranks == 1 || in[GradIn::plan] == plan_type(s), "experts_grad",
               "the plan must be i32[ranks,E]", in);
  expect_types(!s.rounds || is_expert_weight(in[GradIn::gate_up_forward], s, gate_up_of(s), "forward"),
               "experts_grad", "rounds need gate_up for forward", in);
  return {in[0], in[2], {DType::f32, {s.owned, 2 * s.ffn, s.width}}, {DType::f32, {s.owned, s.width, s.ffn}}};
}

// Costs. Rows are counted as if each rank's experts got as many as its tokens choose.

// What lies behind a packed weight is not read by the mathematics.
int64_t padding_bytes(const TensorType& type, const ExpertsSizes& s, const LinearAttrs& each) {
  return present(type) ? bytes_of(type) - s.owned * each.out * each.in * size_of(type.dtype) : 0;
}

// Per row: 6 F C for the products; silu 4, times up, times the weight; the sum of outputs.
Cost cost(const OpSig& sig) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  Cost cost = traffic(sig);
  cost.flops = s.choices() * (6 * s.ffn * s.width + 6 * s.ffn + s.width);
  cost.bytes_read -= padding_bytes(sig.inputs[In::gate_up], s, gate_up_of(s)) +
                     padding_bytes(sig.inputs[In::down], s, down_of(s));
  return cost;
}

// Twice the products; swiglu and its gradient 11 + 2, the weight's gradient 2, the weight itself 2.
Cost cost_grad(const OpSig& sig) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  Cost cost = traffic(sig);
  cost.flops = s.choices() * (12 * s.ffn * s.width + 17 * s.ffn + s.width);
  cost.bytes_read +=
      bytes_of(sig.outputs[GradOut::dgate_up]) + bytes_of(sig.outputs[GradOut::ddown]);  // they are added to
  cost.bytes_read -= padding_bytes(sig.inputs[GradIn::gate_up], s, gate_up_of(s)) +
                     padding_bytes(sig.inputs[GradIn::down], s, down_of(s));
  if (sig.inputs.size() > GradIn::gate_up_forward)
    cost.bytes_read -= padding_bytes(sig.inputs[GradIn::gate_up_forward], s, gate_up_of(s));
  return cost;
}

// Rows that leave the rank when choices are even and rounds are not needed.
int64_t rows_away(const ExpertsSizes& s) { return s.choices() * (s.ranks - 1) / s.ranks; }

// Rows out with their weights, outputs back, and once the counts.
int64_t wire_bytes(const OpSig& sig) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  return rows_away(s) * (2 * s.row_bytes() + 4) + (s.ranks - 1) * s.experts * 4;
}

// The gradients of outputs out with the weights, those of rows and weights back.
int64_t wire_bytes_grad(const OpSig& sig) {
  const ExpertsSizes s = experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]);
  return rows_away(s) * 2 * (s.row_bytes() + 4);
}

// Placement

// Ranks of ep have tokens of their own and a part of the experts: no value has a placement there but the
// weights.
Cut place_on_ep(const PlaceQuery& query, ExpertsAttrs attrs) {
  if (attrs.experts % query.ranks != 0)
    throw std::invalid_argument(
        fmt::format("experts: {} ranks of ep must divide experts = {}", query.ranks, attrs.experts));
  attrs.axis = axis_attrs(query);
  Cut cut = place_whole(query);
  cut.inputs[In::gate_up] = cut.inputs[In::down] = shard_of(0);
  cut.attrs = pack_attrs(attrs);
  return cut;
}

// Every rank has a part of each expert's F: it sees all tokens and makes an addend of y.
Cut place_inside_experts(const PlaceQuery& query, ExpertsAttrs attrs) {
  attrs.ffn /= query.ranks;
  Cut cut = place_whole(query);
  cut.inputs[In::gate_up] = shard_of(1);
  cut.inputs[In::down] = shard_of(2);
  cut.outputs[Out::y] = kPartial;
  cut.outputs[Out::hidden] = shard_of(1);
  cut.attrs = pack_attrs(attrs);
  return cut;
}

Cut place(const PlaceQuery& query) {
  const auto attrs = unpack_attrs<ExpertsAttrs>(query.op.attrs);
  if (query.axis == BlockAxis::ep) return place_on_ep(query, attrs);
  if (query.placed[In::gate_up] == shard_of(1)) return place_inside_experts(query, attrs);
  Cut cut = place_by_rows(query);
  if (cut.outputs[Out::y] == kReplicate) return cut;
  cut.outputs[Out::rows] = cut.outputs[Out::hidden] = kRows;
  cut.outputs[Out::plan] = kPartial;
  return cut;
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(Out::y);
  if (!dy.valid()) return;
  const auto attrs = unpack_attrs<ExpertsAttrs>(builder.op().attrs);
  const ExpertsSizes s = experts_sizes(attrs, builder.input_type(In::x));
  const ValueId none;
  const auto out = builder.emit(
      {"experts_grad",
       builder.op().attrs,
       {dy, builder.input(In::ids), builder.input(In::weights),
        s.ranks > 1 ? builder.output(Out::rows) : none, builder.output(Out::hidden),
        builder.input(In::gate_up), builder.input(In::down),
        s.rounds || s.ranks == 1 ? builder.input(In::x) : none,
        s.ranks > 1 ? builder.output(Out::plan) : none, s.rounds ? builder.input(In::gate_up) : none},
       {none, none, builder.param_grad(In::gate_up), builder.param_grad(In::down)},
       {"experts.dx", "experts.dweights", "", ""}});
  builder.add_input_grad(In::x, out[GradOut::dx]);
  builder.add_input_grad(In::weights, out[GradOut::dweights]);
}

int64_t scratch(const OpSig& sig, int threads) {
  return experts_space(experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]), threads).bytes;
}

int64_t scratch_grad(const OpSig& sig, int threads) {
  return experts_grad_space(experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[0]), threads)
      .bytes;
}

int64_t reduction(const OpSig& sig) {
  const auto a = unpack_attrs<ExpertsAttrs>(sig.attrs);
  return a.width + a.ffn + a.top_k;
}

// The weights' gradients sum over rows.
int64_t reduction_grad(const OpSig& sig) { return reduction(sig) + sig.inputs[GradIn::hidden].shape[0]; }

}  // namespace

std::vector<OpEntry> experts_ops() {
  using Use = OperandDef::Use;
  OpDef experts;
  experts.name = "experts";
  experts.inputs = {{"x"}, {"ids"}, {"weights"}, {"weight_gate_up"}, {"weight_down"}};
  experts.outputs = {{"y"}, {"rows"}, {"hidden"}, {"plan"}};
  experts.infer = infer;
  experts.cost = cost;
  experts.scratch_bytes = scratch;
  experts.gradient = gradient;
  experts.reduction = reduction;
  experts.place = place;
  experts.wire_bytes = wire_bytes;

  OpDef grad;
  grad.name = "experts_grad";
  grad.inputs = {{"dy"},
                 {"ids"},
                 {"weights"},
                 {"rows", Use::optional},
                 {"hidden"},
                 {"weight_gate_up"},
                 {"weight_down"},
                 {"x", Use::optional},
                 {"plan", Use::optional},
                 {"weight_gate_up_forward", Use::optional}};
  grad.outputs = {
      {"dx"}, {"dweights"}, {"dgate_up", Use::optional_accumulate}, {"ddown", Use::optional_accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.scratch_bytes = scratch_grad;
  grad.reduction = reduction_grad;
  grad.wire_bytes = wire_bytes_grad;

  return {{experts, reference_experts, experts_cases}, {grad, reference_experts_grad, experts_grad_cases}};
}

}  // namespace trireme
