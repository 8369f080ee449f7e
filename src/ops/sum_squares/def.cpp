// Definition of sum_squares: partial[p] = sum of the squares of the p-th 1024 elements of x, in f64.
#include "ops/sum_squares/sum_squares.h"

#include "ops/folders.h"
#include "ops/shape_rule.h"

namespace trireme {

void sum_squares_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> sum_squares_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::f32 && in[0].shape.size() == 1, "sum_squares", "x is f32[n]", in);
  return {{DType::f64, {(in[0].shape[0] + kSquaresPerPartial - 1) / kSquaresPerPartial}}};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = 2 * count(sig.inputs[0].shape);
  return cost;
}

}  // namespace

std::vector<OpEntry> sum_squares_ops() {
  OpDef sum_squares;
  sum_squares.name = "sum_squares";
  sum_squares.inputs = {{"x"}};
  sum_squares.outputs = {{"partials"}};
  sum_squares.infer = infer;
  sum_squares.cost = cost;
  sum_squares.reduction = [](const OpSig&) { return int64_t{1}; };  // summed in f64
  return {{sum_squares, sum_squares_reference, sum_squares_cases}};
}

}  // namespace trireme
