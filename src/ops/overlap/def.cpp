// Definitions of gather_linear and linear_scatter: a product and a collective each, so their costs are sums.
#include "ops/folders.h"
#include "ops/overlap/overlap.h"
#include "ops/shape_rule.h"

namespace trireme {

void gather_linear_reference(const OpSig& sig, const Operands& operands);
void linear_scatter_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> gather_linear_cases();
std::vector<OpCase> linear_scatter_cases();

namespace {

using Types = std::span<const TensorType>;

// Sizes

ChunkSizes sizes_of(const OverlapAttrs& a, const TensorType& x) {
  const bool forward = a.use == "forward";
  ChunkSizes s{.ranks = a.on.ranks, .rank = a.on.rank, .chunks = a.chunks};
  s.k = forward ? a.in : a.out;
  s.n = forward ? a.out : a.in;
  s.rows = count(x.shape) / s.k;
  s.x_row = s.k * size_of(x.dtype);
  s.y_row = s.n * size_of(x.dtype);
  return s;
}

}  // namespace

ChunkSizes gather_linear_sizes(const OpSig& sig) {
  return sizes_of(unpack_attrs<OverlapAttrs>(sig.attrs), sig.inputs[0]);
}

ChunkSizes linear_scatter_sizes(const OpSig& sig) {
  ChunkSizes s = sizes_of(unpack_attrs<OverlapAttrs>(sig.attrs), sig.inputs[0]);
  s.rows /= s.ranks;
  return s;
}

namespace {

// Shape rules

void expect_product(std::string_view op, const OverlapAttrs& a, Types in) {
  expect_axis(op, a.on, in);
  expect_types(a.use == "forward" || a.use == "input_grad", op, "use must be forward or input_grad", in);
  const TensorType &x = in[0], &weight = in[1];
  expect_types(
      is_compute(x.dtype) && x.shape.size() == 3 && x.shape.back() == (a.use == "forward" ? a.in : a.out), op,
      "x must be [.,.,k], as wide as the weight takes it", in);
  expect_types(weight.dtype == x.dtype && is_weight(weight, {a.in, a.out}, a.use), op,
               "the weight must be [out,in] or packed for use, of x's dtype", in);
}

std::vector<TensorType> infer_gather_linear(const Attrs& attrs, Types in) {
  constexpr std::string_view kOp = "gather_linear";
  const auto [a, batch, keep] = unpack_attrs<GatherLinearAttrs>(attrs);
  expect_product(kOp, a, in);
  const TensorType& x = in[0];
  const ChunkSizes s = sizes_of(a, x);
  expect_types(x.shape[0] == 1 && batch > 0 && s.rows * s.ranks % batch == 0, kOp,
               "x must be [1,N,k], and batch divide all rows", in);
  expect_types(a.chunks > 0 && s.rows % a.chunks == 0, kOp, "chunks must divide the rows of a rank", in);
  const bool bias = in.size() > 2 && present(in[2]);
  expect_types(!bias || (a.use == "forward" && in[2] == TensorType{x.dtype, {a.out}}), kOp,
               "the bias must be [out], of x's dtype, and of a forward product", in);
  const int64_t length = s.rows * s.ranks / batch;
  return {{x.dtype, {batch, length, s.n}},
          keep != 0 ? TensorType{x.dtype, {batch, length, s.k}} : absent_type()};
}

std::vector<TensorType> infer_linear_scatter(const Attrs& attrs, Types in) {
  constexpr std::string_view kOp = "linear_scatter";
  const auto a = unpack_attrs<OverlapAttrs>(attrs);
  expect_product(kOp, a, in);
  const TensorType& x = in[0];
  const ChunkSizes s = sizes_of(a, x);
  expect_types(a.chunks > 0 && s.rows % (s.ranks * a.chunks) == 0, kOp, "ranks x chunks must divide the rows",
               in);
  return {{x.dtype, {1, s.rows / s.ranks, s.n}}};
}

// Costs

// A packed weight has padding, which the mathematics does not read.
Cost product_cost(const OpSig& sig, const ChunkSizes& s) {
  Cost cost = traffic(sig);
  cost.flops = 2 * s.rows * s.ranks * s.k * s.n;
  cost.bytes_read += s.k * s.n * size_of(sig.inputs[1].dtype) - bytes_of(sig.inputs[1]);
  return cost;
}

Cost cost_gather_linear(const OpSig& sig) {
  const ChunkSizes s = gather_linear_sizes(sig);
  Cost cost = product_cost(sig, s);
  if (sig.inputs.size() > 2 && present(sig.inputs[2])) cost.flops += s.rows * s.ranks * s.n;
  return cost;
}

// Each rank adds up its own slice.
Cost cost_linear_scatter(const OpSig& sig) {
  const ChunkSizes s = linear_scatter_sizes(sig);
  Cost cost = product_cost(sig, s);
  cost.flops += (s.ranks - 1) * s.rows * s.n;
  return cost;
}

int64_t wire_gather_linear(const OpSig& sig) {
  return (gather_linear_sizes(sig).ranks - 1) * bytes_of(sig.inputs[0]);
}

int64_t wire_linear_scatter(const OpSig& sig) {
  return (linear_scatter_sizes(sig).ranks - 1) * bytes_of(sig.outputs[0]);
}

// Scratch

int64_t scratch_gather_linear(const OpSig& sig, int threads) {
  const ChunkSizes s = gather_linear_sizes(sig);
  const bool keep = unpack_attrs<GatherLinearAttrs>(sig.attrs).keep != 0;
  return product_scratch_bytes(s.k, threads) + (keep ? 0 : 2 * s.arriving_bytes());
}

int64_t scratch_linear_scatter(const OpSig& sig, int threads) {
  const ChunkSizes s = linear_scatter_sizes(sig);
  return product_scratch_bytes(s.k, threads) + (s.ranks > 1 ? 2 * s.leaving_bytes() : 0);
}

int64_t reduction_gather_linear(const OpSig& sig) { return gather_linear_sizes(sig).k + 1; }
int64_t reduction_linear_scatter(const OpSig& sig) {
  const ChunkSizes s = linear_scatter_sizes(sig);
  return s.k * s.ranks;
}

OpDef gather_linear_def() {
  OpDef def;
  def.name = "gather_linear";
  def.inputs = {{"x"}, {"weight"}, {"bias", OperandDef::Use::optional}};
  def.outputs = {{"y"}, {"whole", OperandDef::Use::optional}};
  def.infer = infer_gather_linear;
  def.cost = cost_gather_linear;
  def.scratch_bytes = scratch_gather_linear;
  def.reduction = reduction_gather_linear;
  def.wire_bytes = wire_gather_linear;
  return def;
}

OpDef linear_scatter_def() {
  OpDef def;
  def.name = "linear_scatter";
  def.inputs = {{"x"}, {"weight"}};
  def.outputs = {{"y"}};
  def.infer = infer_linear_scatter;
  def.cost = cost_linear_scatter;
  def.scratch_bytes = scratch_linear_scatter;
  def.reduction = reduction_linear_scatter;
  def.wire_bytes = wire_linear_scatter;
  return def;
}

}  // namespace

std::vector<OpEntry> overlap_ops() {
  return {{gather_linear_def(), gather_linear_reference, gather_linear_cases},
          {linear_scatter_def(), linear_scatter_reference, linear_scatter_cases}};
}

}  // namespace trireme
