// Gradient rules against central differences. A one-op graph goes through the op's rule; forward and backward
// run with the oracles. The loss is a fixed random combination of the outputs (for an op that yields a loss,
// the loss itself).
//
// Step and tolerance: with the five-point formula at h = 2^-6 the truncation error is h^4 / 30 f''''' ~ 2e-9
// times the fifth derivative; a loss of size L in f32 contributes about 2^-24 L / h = 4e-6 L. So 2e-3 of the
// gradient's largest element, plus 2e-5 times the sum of |outputs * weights|, is far above noise, and far
// below a wrong term.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/balance/balance.h"
#include "ops/gradient.h"
#include "ops/harness/interpret.h"
#include "ops/harness/variant.h"
#include "ops/router/router.h"

namespace trireme {
namespace {

constexpr double kStep = 1.0 / 64;

bool is_param(std::string_view name) {
  return (name.starts_with("weight") && name != "weights") || name == "bias" || name == "table" ||
         name == "state";
}
// Outputs that are kept for backward, or are counts.
bool carries_gradient(const TensorType& type, std::string_view name) {
  return type.dtype == DType::f32 && name != "mean" && name != "rstd" && name != "lse" && name != "nll" &&
         name != "counts" && name != "rows" && name != "hidden";
}
// Inputs that no loss is differentiated by.
bool is_constant(std::string_view name) { return name == "state" || name == "counts"; }

// The op's graph, its values' contents, and the backward list.
struct Problem {
  std::vector<Value> values;
  std::vector<Values> contents;          // of the inputs and of the output gradients
  std::vector<Op> forward;               // as the case has it
  std::vector<Op> forward_for_backward;  // the rule may have replaced it
  std::vector<Op> backward;
  std::vector<ValueId> grads, param_grads;
  std::vector<std::pair<ValueId, ValueId>> weighted;  // output, its gradient
};

ValueId add_to(Problem& p, Value value, Values contents) {
  p.values.push_back(std::move(value));
  p.contents.push_back(std::move(contents));
  return ValueId(static_cast<int64_t>(p.values.size()) - 1);
}

Op build_op(Problem& p, const OpDef& def, const OpVariant& v) {
  Op op{v.reference.kind, v.reference.attrs, {}, {}};
  for (size_t i = 0; i < v.reference.inputs.size(); ++i) {
    const TensorType& type = v.reference.inputs[i];
    const std::string name(def.inputs[i].name);
    const ValueRole role = type.dtype != DType::f32 || name == "counts" ? ValueRole::batch
                           : is_param(name)                             ? ValueRole::param
                                                                        : ValueRole::input;
    op.inputs.push_back(present(type) ? add_to(p, {name, type, role, {}},
                                               random_values(v.fills[i], type, "difference/" + name))
                                      : ValueId());
  }
  for (size_t i = 0; i < v.reference.outputs.size(); ++i) {
    const TensorType& type = v.reference.outputs[i];
    op.outputs.push_back(present(type)
                             ? add_to(p, {std::string(def.outputs[i].name), type, ValueRole::local, {}}, {})
                             : ValueId());
  }
  return op;
}

Problem differentiate(const OpDef& def, const OpVariant& v) {
  Problem p;
  const Op op = build_op(p, def, v);
  p.forward = {op};
  std::vector<ValueId> seeds(p.values.size());
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].valid() || !carries_gradient(v.reference.outputs[i], def.outputs[i].name)) continue;
    const std::string name = "d" + std::string(def.outputs[i].name);
    const TensorType& type = v.reference.outputs[i];
    const ValueId seed =
        add_to(p, {name, type, ValueRole::output_grad, {}}, random_values({}, type, "difference/" + name));
    seeds[static_cast<size_t>(op.outputs[i].index)] = seed;
    p.weighted.emplace_back(op.outputs[i], seed);
  }
  p.forward_for_backward = p.forward;
  seeds.resize(p.values.size());
  const std::vector<ValueId> none(p.values.size());
  Tape tape{p.values, p.forward_for_backward, {}, std::vector<bool>(p.values.size()), seeds, none, none, {}};
  for (const ValueId id : op.inputs)
    if (id.valid())
      tape.wants_grad[static_cast<size_t>(id.index)] =
          p.values[static_cast<size_t>(id.index)].role != ValueRole::batch;
  GradientBuilder builder(tape, 0);
  def.gradient(builder);
  p.backward = tape.backward;
  p.grads = tape.grads;
  p.param_grads = tape.param_grads;
  return p;
}

// The loss with its magnitude (the sum of absolute terms).
struct Loss {
  double value = 0, magnitude = 0;
};

const Values& operand(const Op& op, size_t i, const std::vector<Values>& contents) {
  return contents[static_cast<size_t>(op.inputs[i].index)];
}

// coefficient E sum_e f_e sum_t p_te, per set of counts (ops/balance/balance.h).
double balance_loss(const Op& op, const std::vector<Values>& contents) {
  const auto a = unpack_attrs<BalanceAttrs>(op.attrs);
  const Values &scores = operand(op, 1, contents), &counts = operand(op, 2, contents);
  const auto E = static_cast<size_t>(a.experts), sets = counts.size() / E, tokens = scores.size() / E;
  double loss = 0;
  for (size_t t = 0; t < tokens; ++t) {
    double sum = 0, weighted = 0;
    for (size_t e = 0; e < E; ++e) {
      sum += scores[t * E + e];
      weighted += scores[t * E + e] * counts[t * sets / tokens * E + e];
    }
    loss += weighted / sum;
  }
  const double counted = static_cast<double>(a.tokens * a.top_k) / static_cast<double>(sets);
  return a.coefficient * static_cast<double>(E) * loss / counted;
}

// z_loss logsumexp(logits)^2 per token.
double router_z_loss(const Op& op, const std::vector<Values>& contents) {
  const auto a = unpack_attrs<RouterAttrs>(op.attrs);
  const Values &x = operand(op, 0, contents), &weight = operand(op, 1, contents);
  const auto E = static_cast<size_t>(a.experts), width = weight.size() / E;
  double loss = 0;
  for (size_t t = 0; t < x.size() / width; ++t) {
    double sum = 0;
    for (size_t e = 0; e < E; ++e) {
      double logit = 0;
      for (size_t c = 0; c < width; ++c) logit += x[t * width + c] * weight[e * width + c];
      sum += std::exp(logit);
    }
    loss += a.z_loss * std::log(sum) * std::log(sum);
  }
  return loss;
}

// Losses that no output shows: their gradients are added in backward.
double loss_in_gradient_alone(const Op& op, const std::vector<Values>& contents) {
  if (op.kind == "balance") return balance_loss(op, contents);
  return op.kind == "router" ? router_z_loss(op, contents) : 0;
}

Loss loss_of(const Problem& p) {
  std::vector<Values> contents = p.contents;
  interpret(p.forward, p.values, contents);
  Loss loss;
  for (const auto& [output, weight] : p.weighted)
    for (size_t i = 0; i < contents[static_cast<size_t>(output.index)].size(); ++i) {
      const double term =
          contents[static_cast<size_t>(output.index)][i] * contents[static_cast<size_t>(weight.index)][i];
      loss.value += term;
      loss.magnitude += std::abs(term);
    }
  const double hidden = loss_in_gradient_alone(p.forward[0], contents);
  loss.value += hidden;
  loss.magnitude += std::abs(hidden);
  if (!p.weighted.empty()) return loss;
  const Op& op = p.forward[0];  // a loss is its own combination: the sum of its parts
  for (const double term : contents[static_cast<size_t>(op.outputs[0].index)]) {
    loss.value += term;
    loss.magnitude += std::abs(term);
  }
  return loss;
}

double central_difference(Problem& p, ValueId id, size_t element) {
  double& x = p.contents[static_cast<size_t>(id.index)][element];
  const double at = x;
  const auto shifted = [&](double steps) {
    x = at + steps * kStep;
    return loss_of(p).value;
  };
  const double slope = (8 * (shifted(1) - shifted(-1)) - (shifted(2) - shifted(-2))) / (12 * kStep);
  x = at;
  return slope;
}

void check_input(Problem& p, ValueId id, const std::vector<Values>& contents) {
  const auto index = static_cast<size_t>(id.index);
  const Value value = p.values[index];
  const ValueId grad = value.role == ValueRole::param ? p.param_grads[index] : p.grads[index];
  ASSERT_TRUE(grad.valid()) << "no gradient for " << value.name;
  const Values& analytic = contents[static_cast<size_t>(grad.index)];
  ASSERT_EQ(analytic.size(), p.contents[index].size());
  double largest = 0;
  for (const double g : analytic) largest = std::max(largest, std::abs(g));
  EXPECT_GT(largest, 0) << "the gradient of " << value.name << " is zero";
  const double tolerance = 2e-3 * largest + 2e-5 * loss_of(p).magnitude;
  const size_t stride = std::max<size_t>(1, analytic.size() / 100);
  for (size_t i = 0; i < analytic.size(); i += stride)
    ASSERT_NEAR(analytic[i], central_difference(p, id, i), tolerance) << value.name << "[" << i << "]";
}

class FiniteDifference : public testing::TestWithParam<std::string_view> {};

TEST_P(FiniteDifference, GradientAgrees) {
  const OpEntry& op = *find_op(GetParam());
  for (const OpCase& c : op.cases()) {
    if (!c.finite_difference) continue;
    SCOPED_TRACE(c.name);
    Problem p = differentiate(op.def, variants_of(op.def, c)[0]);
    std::vector<Values> contents = p.contents;
    interpret(p.forward_for_backward, p.values, contents);
    interpret(p.backward, p.values, contents);
    for (const ValueId id : p.forward[0].inputs) {
      if (!id.valid()) continue;
      const Value& value = p.values[static_cast<size_t>(id.index)];
      if (value.role == ValueRole::batch || is_constant(value.name)) continue;
      check_input(p, id, contents);
      if (HasFailure()) return;
    }
  }
}

std::vector<std::string_view> differentiable() {
  std::vector<std::string_view> names;
  for (const OpEntry& op : op_table())
    if (op.def.gradient != nullptr) names.push_back(op.def.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, FiniteDifference, testing::ValuesIn(differentiable()),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace trireme
