// Definitions of balance and balance_grad.
#include "ops/balance/balance.h"

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void reference_balance(const OpSig& sig, const Operands& operands);
void reference_balance_grad(const OpSig& sig, const Operands& operands);
std::vector<OpCase> balance_cases();
std::vector<OpCase> balance_grad_cases();

namespace {

void expect_scores(std::string_view op, const BalanceAttrs& a, const TensorType& scores,
                   const TensorType& counts, std::span<const TensorType> in) {
  expect_types(scores.dtype == DType::f32 && scores.shape.size() == 3 && scores.shape[2] == a.experts, op,
               "scores must be f32[B,T,E]", in);
  expect_types(counts == TensorType{DType::f32, {1, a.experts}} ||
                   counts == TensorType{DType::f32, {scores.shape[0], a.experts}},
               op, "counts must be f32[1,E] or f32[B,E]", in);
  expect_types(a.top_k > 0 && a.tokens > 0, op, "tokens and top_k must be positive", in);
}

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  const auto a = unpack_attrs<BalanceAttrs>(attrs);
  expect_scores("balance", a, in[1], in[2], in);
  expect_types(in[0] == TensorType{DType::f32, {in[1].shape[0], in[1].shape[1], a.top_k}}, "balance",
               "weights must be f32[B,T,k]", in);
  return {in[0]};
}

// scores, counts
std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  expect_scores("balance_grad", unpack_attrs<BalanceAttrs>(attrs), in[0], in[1], in);
  return {in[0]};
}

// Scores and counts are there for backward alone.
Cost cost(const OpSig& sig) {
  return {.flops = 0, .bytes_read = bytes_of(sig.inputs[0]), .bytes_written = bytes_of(sig.outputs[0])};
}

// Per score: its sum, the mean's product and sum, a difference and a division.
Cost cost_grad(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = 5 * count(sig.inputs[0].shape);
  return cost;
}

// Like rows, with counts of all ranks.
Cut place(const PlaceQuery& query) {
  Cut cut = place_by_rows(query);
  cut.inputs[2] = kReplicate;
  return cut;
}

void gradient(GradientBuilder& builder) {
  const ValueId dweights = builder.output_grad(0);
  if (!dweights.valid()) return;
  builder.add_input_grad(0, dweights);
  if (!builder.wants_grad(1) || unpack_attrs<BalanceAttrs>(builder.op().attrs).coefficient == 0) return;
  builder.add_input_grad(1, builder.emit({"balance_grad",
                                          builder.op().attrs,
                                          {builder.input(1), builder.input(2)},
                                          {},
                                          {"balance.dscores"}})[0]);
}

int64_t reduction(const OpSig& sig) { return unpack_attrs<BalanceAttrs>(sig.attrs).experts; }

}  // namespace

std::vector<OpEntry> balance_ops() {
  OpDef balance;
  balance.name = "balance";
  balance.inputs = {{"weights"}, {"scores"}, {"counts"}};
  balance.outputs = {{"weights"}};
  balance.infer = infer;
  balance.cost = cost;
  balance.gradient = gradient;
  balance.reduction = [](const OpSig&) { return int64_t{1}; };
  balance.place = place;
  balance.in_place = {{0, 0}};

  OpDef grad;
  grad.name = "balance_grad";
  grad.inputs = {{"scores"}, {"counts"}};
  grad.outputs = {{"dscores"}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.reduction = reduction;

  return {{balance, reference_balance, balance_cases}, {grad, reference_balance_grad, balance_grad_cases}};
}

}  // namespace trireme
