// Shapes of balance and balance_grad: counts of a micro-batch and of each sequence.
#include "ops/balance/balance.h"

namespace trireme {
namespace {

OpCase make(std::string name, const Shape& scores, int64_t top_k, int64_t sets) {
  OpCase c;
  c.name = std::move(name);
  c.kind = "balance";
  c.attrs = pack_attrs(BalanceAttrs{scores[2], top_k, 0.5, scores[0] * scores[1]});
  c.inputs = {
      {DType::f32, {scores[0], scores[1], top_k}}, {DType::f32, scores}, {DType::f32, {sets, scores[2]}}};
  c.fills = {{}, {.kind = InputFill::Kind::positive}, {.kind = InputFill::Kind::positive, .scale = 4.0f}};
  return c;
}

}  // namespace

std::vector<OpCase> balance_cases() {
  std::vector<OpCase> cases = {make("micro_batch", {2, 3, 4}, 2, 1), make("sequence", {2, 3, 4}, 2, 2),
                               make("many", {3, 50, 37}, 4, 1), make("one", {1, 1, 1}, 1, 1),
                               make("deepseek", {4, 1024, 256}, 8, 4)};
  cases[0].finite_difference = cases[1].finite_difference = true;
  cases.back().bench = true;
  return cases;
}

std::vector<OpCase> balance_grad_cases() {
  std::vector<OpCase> cases = balance_cases();
  for (OpCase& c : cases) {
    c.kind = "balance_grad";
    c.finite_difference = false;
    c.inputs.erase(c.inputs.begin());
    c.fills.erase(c.fills.begin());
  }
  return cases;
}

}  // namespace trireme
