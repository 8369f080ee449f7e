// Definitions of router and router_grad.
#include "ops/router/router.h"

#include <algorithm>
#include <cmath>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void reference_router(const OpSig& sig, const Operands& operands);
void reference_router_grad(const OpSig& sig, const Operands& operands);
std::vector<OpCase> router_cases();
std::vector<OpCase> router_grad_cases();

int64_t expert_capacity(const RouterAttrs& a, int64_t tokens) {
  const int64_t all = tokens * a.top_k;
  if (a.capacity_factor <= 0) return all;
  const double share = a.capacity_factor * static_cast<double>(all) / static_cast<double>(a.experts);
  return std::min(all, static_cast<int64_t>(std::ceil(share)));
}

namespace {

// Shape rules

void expect_attrs(std::string_view op, const RouterAttrs& a, std::span<const TensorType> in) {
  expect_types(a.experts > 0 && a.top_k > 0 && a.groups > 0 && a.experts % a.groups == 0, op,
               "groups must divide the experts", in);
  expect_types(a.top_groups > 0 && a.top_groups <= a.groups && a.top_k <= a.experts / a.groups * a.top_groups,
               op, "the chosen groups must have top_k experts", in);
  expect_types(a.score == "softmax" || (a.score == "sigmoid" && a.softmax_after == 0), op,
               "score must be softmax, or sigmoid without softmax_after", in);
  expect_types(a.counts_per == "micro_batch" || a.counts_per == "sequence", op,
               "counts_per must be micro_batch or sequence", in);
}

void expect_operands(std::string_view op, const RouterAttrs& a, std::span<const TensorType> in) {
  expect_attrs(op, a, in);
  expect_types(is_compute(in[0].dtype) && in[0].shape.size() == 3, op, "x must be [B,T,C]", in);
  expect_types(in[1] == TensorType{in[0].dtype, {a.experts, in[0].shape[2]}}, op,
               "the weight must be [E,C] of x's dtype", in);
}

// [B,T,width]
TensorType per_token(const TensorType& x, DType dtype, int64_t width) {
  return {dtype, {x.shape[0], x.shape[1], width}};
}

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  const auto a = unpack_attrs<RouterAttrs>(attrs);
  expect_operands("router", a, in);
  expect_types(in.size() < 3 || !present(in[2]) || in[2] == TensorType{DType::f32, {2, a.experts}}, "router",
               "the state must be f32[2,E]", in);
  return {per_token(in[0], DType::i32, a.top_k),
          per_token(in[0], DType::f32, a.top_k),
          per_token(in[0], DType::f32, a.experts),
          {DType::f32, {a.counts_per == "sequence" ? in[0].shape[0] : 1, a.experts}}};
}

// x, weight, ids, scores, dweights?, dscores?
std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  const auto a = unpack_attrs<RouterAttrs>(attrs);
  expect_operands("router_grad", a, in);
  const TensorType scores = per_token(in[0], DType::f32, a.experts);
  expect_types(in[2] == per_token(in[0], DType::i32, a.top_k) && in[3] == scores, "router_grad",
               "ids must be i32[B,T,k], scores f32[B,T,E]", in);
  expect_types(!present(in[4]) || in[4] == per_token(in[0], DType::f32, a.top_k), "router_grad",
               "dweights must be f32[B,T,k]", in);
  expect_types(!present(in[5]) || in[5] == scores, "router_grad", "dscores must be f32[B,T,E]", in);
  return {in[0], {DType::f32, in[1].shape}, {DType::f32, {2, a.experts}}};
}

// Costs. A product with the weight is 2 NCE; a score takes 4 operations, a transcendental counted as one; a
// weight 2. Comparisons are not counted.

int64_t product_flops(const OpSig& sig) { return 2 * count(sig.inputs[0].shape) * sig.inputs[1].shape[0]; }

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = product_flops(sig) + 4 * count(sig.outputs[2].shape) + 2 * count(sig.outputs[1].shape);
  return cost;
}

// dx and dweight; the z-loss needs the logits again.
Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.bytes_read += bytes_of(sig.outputs[1]) + bytes_of(sig.outputs[2]);  // they are added to
  const bool z_loss = unpack_attrs<RouterAttrs>(sig.attrs).z_loss != 0;
  cost.flops = (z_loss ? 3 : 2) * product_flops(sig) + (z_loss ? 10 : 5) * count(sig.inputs[3].shape);
  return cost;
}

int64_t scratch_forward(const OpSig& sig, int threads) {
  const auto a = unpack_attrs<RouterAttrs>(sig.attrs);
  const int64_t taken = a.experts * static_cast<int64_t>(sizeof(int64_t));  // choices so far, by expert
  return threads * choice_scratch_bytes(a) + taken;
}

// dlogits f32[N,E].
int64_t scratch_grad(const OpSig& sig, int) { return bytes_of(sig.inputs[3]); }

// Tokens stay where they are; each rank counts its own. Over whole sequences counts need whole sequences, or
// slices of each. Who finds an expert full depends on all tokens before it.
Cut place(const PlaceQuery& query) {
  Cut cut = place_by_rows(query);
  const auto a = unpack_attrs<RouterAttrs>(query.op.attrs);
  if (cut.outputs[0] == kRows && (a.counts_per == "sequence" || a.capacity_factor > 0))
    return place_whole(query);
  if (cut.outputs[3] != kReplicate) cut.outputs[3] = kPartial;
  return cut;
}

void gradient(GradientBuilder& builder) {
  const ValueId dweights = builder.output_grad(1), dscores = builder.output_grad(2);
  if (!dweights.valid() && !dscores.valid()) return;
  const auto out = builder.emit(
      {"router_grad",
       builder.op().attrs,
       {builder.input(0), builder.input(1), builder.output(0), builder.output(2), dweights, dscores},
       {ValueId(), builder.param_grad(1), builder.param_grad(2)},
       {"router.dx", "", ""}});
  builder.add_input_grad(0, out[0]);
}

int64_t reduction(const OpSig& sig) { return sig.inputs[0].shape[2] + sig.inputs[1].shape[0]; }

// dweight sums over tokens.
int64_t reduction_grad(const OpSig& sig) {
  return reduction(sig) + sig.inputs[0].shape[0] * sig.inputs[0].shape[1];
}

}  // namespace

std::vector<OpEntry> router_ops() {
  using Use = OperandDef::Use;
  OpDef router;
  router.name = "router";
  router.inputs = {{"x"}, {"weight"}, {.name = "state", .use = Use::optional, .master = true}};
  router.outputs = {{"ids"}, {"weights"}, {"scores"}, {"counts"}};
  router.infer = infer;
  router.cost = cost;
  router.scratch_bytes = scratch_forward;
  router.gradient = gradient;
  router.reduction = reduction;
  router.place = place;

  OpDef grad;
  grad.name = "router_grad";
  grad.inputs = {
      {"x"}, {"weight"}, {"ids"}, {"scores"}, {"dweights", Use::optional}, {"dscores", Use::optional}};
  grad.outputs = {{"dx"}, {"dweight", Use::optional_accumulate}, {"dstate", Use::optional_accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.scratch_bytes = scratch_grad;
  grad.reduction = reduction_grad;

  return {{router, reference_router, router_cases}, {grad, reference_router_grad, router_grad_cases}};
}

}  // namespace trireme
