// Definition of sum_rows: y[k] = sum over n of x[n,k]. Rows in index order, in contiguous lanes whose sums
// are then added in a binary tree. Adds up the losses of a step's micro-batches.
#include "ops/sum_rows/sum_rows.h"

#include "ops/folders.h"
#include "ops/shape_rule.h"

namespace trireme {

void sum_rows_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> sum_rows_cases();

namespace {

std::vector<TensorType> infer(const Attrs& attrs, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::f64 && in[0].shape.size() == 2, "sum_rows", "x is f64[n,k]", in);
  const int64_t lanes = unpack_attrs<SumRowsAttrs>(attrs).lanes;
  expect_types(lanes > 0 && in[0].shape[0] % lanes == 0, "sum_rows", "lanes divides n", in);
  return {{DType::f64, {in[0].shape[1]}}};
}

Cost cost(const OpSig& sig) {
  Cost cost = traffic(sig);
  cost.flops = count(sig.inputs[0].shape);
  return cost;
}

}  // namespace

std::vector<OpEntry> sum_rows_ops() {
  OpDef sum_rows;
  sum_rows.name = "sum_rows";
  sum_rows.inputs = {{"x"}};
  sum_rows.outputs = {{"y"}};
  sum_rows.infer = infer;
  sum_rows.cost = cost;
  sum_rows.reduction = [](const OpSig& sig) { return sig.inputs[0].shape[0]; };
  return {{sum_rows, sum_rows_reference, sum_rows_cases}};
}

}  // namespace trireme
