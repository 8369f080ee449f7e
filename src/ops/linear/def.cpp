// Linear layers. x[...,I] is seen as rows: [N,I].
#include "ops/linear/linear.h"

#include <algorithm>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/scratch.h"
#include "ops/shape_rule.h"

namespace trireme {

int64_t packed_count(int64_t out, int64_t in, const std::string& use) {
  const int64_t k = use == "forward" ? in : out, n = use == "forward" ? out : in;
  return (k + 31) / 32 * 32 * ((n + 63) / 64 * 64);
}

int64_t product_scratch_bytes(int64_t k, int threads) {
  return threads * ((int64_t{2} << 20) + 1024 * std::min<int64_t>(k, 8192));
}

int64_t weight_gradient_scratch_bytes(int64_t rows, int64_t in, DType dtype, int threads) {
  const int64_t block = std::min(rows, kWeightGradRows);
  return product_scratch_bytes(block, threads) + packed_count(in, block, "forward") * size_of(dtype);
}

int64_t row_product_scratch_bytes(int64_t k, int64_t n, DType dtype, int threads) {
  return product_scratch_bytes(k, threads) + scratch_piece(kRowBlock * (k + n) * size_of(dtype));
}

int64_t row_gradient_scratch_bytes(int64_t rows, int64_t out, int64_t in, DType dtype, int threads) {
  const int64_t whole =
      product_scratch_bytes(rows, threads) + packed_count(in, rows, "forward") * size_of(dtype);
  const int64_t blocks = weight_gradient_scratch_bytes(kGradientRowBlock, in, dtype, threads) +
                         scratch_piece(kGradientRowBlock * (out + in) * size_of(dtype));
  return std::max(whole, blocks);
}

bool is_weight(const TensorType& weight, const LinearAttrs& attrs, const std::string& use) {
  if (is_packed(weight)) return weight.shape[0] == packed_count(attrs.out, attrs.in, use);
  return weight.shape == Shape{attrs.out, attrs.in};
}

namespace {

// Shape rules

bool has_rows(const TensorType& type, int64_t width) {
  return is_compute(type.dtype) && !type.shape.empty() && type.shape.back() == width;
}

TensorType with_width(TensorType type, int64_t width) {
  type.shape.back() = width;
  return type;
}

std::vector<TensorType> infer_pack(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto use = unpack_attrs<PackAttrs>(attrs).use;
  const TensorType& weight = inputs[0];
  const size_t dims = weight.shape.size();
  expect_types((dims == 2 || dims == 3) && is_compute(weight.dtype), "pack",
               "the weight must be [O,I] or [E,O,I]", inputs);
  expect_types(use == "forward" || use == "input_grad", "pack", "use must be forward or input_grad", inputs);
  const int64_t each = packed_count(weight.shape[dims - 2], weight.shape[dims - 1], use);
  return {{weight.dtype, {dims == 3 ? weight.shape[0] * each : each}}};
}

std::vector<TensorType> infer_linear(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<LinearAttrs>(attrs);
  const TensorType &x = inputs[0], &weight = inputs[1];
  expect_types(has_rows(x, a.in), "linear", "x must be [...,in]", inputs);
  expect_types(weight.dtype == x.dtype && is_weight(weight, a, "forward"), "linear",
               "the weight must be [out,in] or packed for forward, of x's dtype", inputs);
  const bool has_bias = inputs.size() > 2 && present(inputs[2]);
  expect_types(!has_bias || inputs[2] == TensorType{x.dtype, {a.out}}, "linear",
               "the bias must be [out], of x's dtype", inputs);
  return {with_width(x, a.out)};
}

std::vector<TensorType> infer_grad_input(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<LinearAttrs>(attrs);
  const TensorType &dy = inputs[0], &weight = inputs[1];
  expect_types(has_rows(dy, a.out), "linear_grad_input", "dy must be [...,out]", inputs);
  expect_types(weight.dtype == dy.dtype && is_weight(weight, a, "input_grad"), "linear_grad_input",
               "the weight must be [out,in] or packed for input_grad, of dy's dtype", inputs);
  return {with_width(dy, a.in)};
}

std::vector<TensorType> infer_grad_weight(const Attrs& attrs, std::span<const TensorType> inputs) {
  const auto a = unpack_attrs<LinearGradWeightAttrs>(attrs);
  const TensorType &x = inputs[0], &dy = inputs[1];
  expect_types(has_rows(x, a.in) && with_width(x, a.out) == dy, "linear_grad_weight",
               "x must be [...,in] and dy [...,out] with the same rows and dtype", inputs);
  return {{DType::f32, {a.out, a.in}}, a.bias != 0 ? TensorType{DType::f32, {a.out}} : absent_type()};
}

// Costs

int64_t rows_of(const TensorType& type) {
  return count(type.shape) / std::max<int64_t>(1, type.shape.back());
}

// A packed weight has padding, which the mathematics does not read.
Cost product_cost(const OpSig& sig, int64_t in, int64_t out) {
  Cost cost = traffic(sig);
  cost.flops = 2 * rows_of(sig.inputs[0]) * in * out;
  return cost;
}

Cost cost_product(const OpSig& sig) {
  const auto a = unpack_attrs<LinearAttrs>(sig.attrs);
  Cost cost = product_cost(sig, a.in, a.out);
  cost.bytes_read += a.in * a.out * size_of(sig.inputs[1].dtype) - bytes_of(sig.inputs[1]);
  if (sig.inputs.size() > 2 && present(sig.inputs[2])) cost.flops += count(sig.outputs[0].shape);
  return cost;
}

// The accumulators are read too.
Cost cost_grad_weight(const OpSig& sig) {
  const auto a = unpack_attrs<LinearGradWeightAttrs>(sig.attrs);
  Cost cost = product_cost(sig, a.in, a.out);
  cost.bytes_read += cost.bytes_written;
  if (a.bias != 0) cost.flops += count(sig.inputs[1].shape);
  return cost;
}

// Scratch

int64_t scratch_forward(const OpSig& sig, int threads) {
  return product_scratch_bytes(unpack_attrs<LinearAttrs>(sig.attrs).in, threads);
}

int64_t scratch_grad_input(const OpSig& sig, int threads) {
  return product_scratch_bytes(unpack_attrs<LinearAttrs>(sig.attrs).out, threads);
}

int64_t scratch_grad_weight(const OpSig& sig, int threads) {
  const auto a = unpack_attrs<LinearGradWeightAttrs>(sig.attrs);
  return weight_gradient_scratch_bytes(rows_of(sig.inputs[0]), a.in, sig.inputs[0].dtype, threads);
}

// Gradient

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const auto a = unpack_attrs<LinearAttrs>(builder.op().attrs);
  if (builder.wants_grad(0)) {
    const ValueId dx = builder.emit({.kind = "linear_grad_input",
                                     .attrs = pack_attrs(a),
                                     .inputs = {dy, builder.input(1)},
                                     .outputs = {},
                                     .names = {"dx"}})[0];
    builder.add_input_grad(0, dx);
  }
  const ValueId dweight = builder.param_grad(1), dbias = builder.param_grad(2);
  if (!dweight.valid()) return;
  const LinearGradWeightAttrs w{.in = a.in, .out = a.out, .bias = dbias.valid() ? 1 : 0};
  builder.emit({.kind = "linear_grad_weight",
                .attrs = pack_attrs(w),
                .inputs = {builder.input(0), dy},
                .outputs = {dweight, dbias},
                .names = {}});
}

// Placement: by the weight's. A column's outputs are this rank's own; a row's are addends, and the bias goes
// to their sum (Shoeybi et al. 2019, "Megatron-LM", section 3).

Cut place(const PlaceQuery& query) {
  auto attrs = unpack_attrs<LinearAttrs>(query.op.attrs);
  const Placement inside = shard_of(static_cast<int32_t>(query.inputs[0].shape.size()) - 1);
  const Placement& weight = query.placed[1];
  if (weight.kind != Placement::Kind::shard) return place_by_rows(query);
  const bool column = weight.dim == 0;
  (column ? attrs.out : attrs.in) /= query.ranks;
  Cut cut{{column ? kReplicate : inside, weight, column ? shard_of(0) : kReplicate},
          {column ? inside : kPartial},
          "linear",
          pack_attrs(attrs)};
  cut.inputs.resize(query.op.inputs.size());
  if (!column && query.op.inputs.size() > 2 && query.op.inputs[2].valid()) cut.then = {2, "add_bias"};
  return cut;
}

int64_t reduction_in(const OpSig& sig) { return unpack_attrs<LinearAttrs>(sig.attrs).in + 1; }
int64_t reduction_out(const OpSig& sig) { return unpack_attrs<LinearAttrs>(sig.attrs).out; }
int64_t reduction_rows(const OpSig& sig) { return rows_of(sig.inputs[0]); }
int64_t reduction_none(const OpSig&) { return 1; }

OpDef pack_def() {
  OpDef def;
  def.name = "pack";
  def.inputs = {{"weight"}};
  def.outputs = {{"packed"}};
  def.infer = infer_pack;
  def.cost = traffic;
  def.reduction = reduction_none;
  return def;
}

OpDef linear_def() {
  OpDef def;
  def.name = "linear";
  def.inputs = {{"x"}, {"weight"}, {"bias", OperandDef::Use::optional}};
  def.outputs = {{"y"}};
  def.infer = infer_linear;
  def.cost = cost_product;
  def.scratch_bytes = scratch_forward;
  def.gradient = gradient;
  def.place = place;
  def.reduction = reduction_in;
  return def;
}

OpDef grad_input_def() {
  OpDef def;
  def.name = "linear_grad_input";
  def.inputs = {{"dy"}, {"weight"}};
  def.outputs = {{"dx"}};
  def.infer = infer_grad_input;
  def.cost = cost_product;
  def.scratch_bytes = scratch_grad_input;
  def.reduction = reduction_out;
  return def;
}

OpDef grad_weight_def() {
  OpDef def;
  def.name = "linear_grad_weight";
  def.inputs = {{"x"}, {"dy"}};
  def.outputs = {{"dweight", OperandDef::Use::accumulate}, {"dbias", OperandDef::Use::optional_accumulate}};
  def.infer = infer_grad_weight;
  def.cost = cost_grad_weight;
  def.scratch_bytes = scratch_grad_weight;
  def.reduction = reduction_rows;
  return def;
}

}  // namespace

void reference_pack(const OpSig& sig, const Operands& operands);
void reference_linear(const OpSig& sig, const Operands& operands);
void reference_linear_grad_input(const OpSig& sig, const Operands& operands);
void reference_linear_grad_weight(const OpSig& sig, const Operands& operands);
std::vector<OpCase> pack_cases();
std::vector<OpCase> linear_cases();
std::vector<OpCase> linear_grad_input_cases();
std::vector<OpCase> linear_grad_weight_cases();

std::vector<OpEntry> linear_ops() {
  return {{pack_def(), reference_pack, pack_cases},
          {linear_def(), reference_linear, linear_cases},
          {grad_input_def(), reference_linear_grad_input, linear_grad_input_cases},
          {grad_weight_def(), reference_linear_grad_weight, linear_grad_weight_cases}};
}

}  // namespace trireme
