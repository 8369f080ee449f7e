// Definitions of all_gather, slice, reduce_scatter and all_reduce.
#include "ops/collectives/collectives.h"

#include <numeric>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void all_gather_reference(const OpSig& sig, const Operands& operands);
void slice_reference(const OpSig& sig, const Operands& operands);
void reduce_scatter_reference(const OpSig& sig, const Operands& operands);
void all_reduce_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> all_gather_cases();
std::vector<OpCase> slice_cases();
std::vector<OpCase> reduce_scatter_cases();
std::vector<OpCase> all_reduce_cases();

Slicing slicing_of(const std::string& cut, int64_t dim, const Shape& slice) {
  if (cut == "rows") return {1, count(slice)};
  Slicing s{1, 1};
  for (size_t i = 0; i < slice.size(); ++i) (static_cast<int64_t>(i) < dim ? s.outer : s.inner) *= slice[i];
  return s;
}

namespace {

using Types = std::span<const TensorType>;

// Shape rules

// Of a cut along rows or a dim of a tensor with `dims` dims.
void expect_cut(std::string_view op, const std::string& cut, int64_t dim, int64_t row_dims, Types in) {
  const auto dims = static_cast<int64_t>(in[0].shape.size());
  if (cut == "rows")
    expect_types((row_dims == 1 || row_dims == 2) && dims >= row_dims, op,
                 "row_dims must be 1 or 2, and x have as many dims", in);
  else
    expect_types(cut == "shard" && dim >= 0 && dim < dims, op, "a slice is of rows or of a dim of x", in);
}

// Where the whole is cut into slices; of two row dims, behind the fold to [1,B*T,..].
size_t cut_dim(const std::string& cut, int64_t dim, int64_t row_dims) {
  return static_cast<size_t>(cut == "rows" ? row_dims - 1 : dim);
}

void expect_summable(std::string_view op, Types in) {
  expect_types(is_compute(in[0].dtype) || in[0].dtype == DType::f64, op, "x must be f32, bf16 or f64", in);
}

TensorType slice_of(std::string_view op, const SliceAttrs& a, Types in) {
  expect_axis(op, a.on, in);
  expect_cut(op, a.to, a.dim, a.row_dims, in);
  TensorType slice = in[0];
  Shape& shape = slice.shape;
  const size_t dim = cut_dim(a.to, a.dim, a.row_dims);
  if (a.to == "rows" && a.row_dims == 2) {
    shape[1] *= shape[0];
    shape[0] = 1;
  }
  expect_types(shape[dim] % a.on.ranks == 0, op, "ranks must divide what is cut", in);
  shape[dim] /= a.on.ranks;
  return slice;
}

std::vector<TensorType> infer_gather(const Attrs& attrs, Types in) {
  const auto a = unpack_attrs<GatherAttrs>(attrs);
  expect_axis("all_gather", a.on, in);
  expect_cut("all_gather", a.from, a.dim, a.row_dims, in);
  TensorType whole = in[0];
  whole.shape[cut_dim(a.from, a.dim, a.row_dims)] *= a.on.ranks;
  if (a.from == "rows" && a.row_dims == 2) {
    expect_types(whole.shape[0] == 1 && a.batch > 0 && whole.shape[1] % a.batch == 0, "all_gather",
                 "rows are [1,N,..], and batch divides all of them", in);
    whole.shape[0] = a.batch;
    whole.shape[1] /= a.batch;
  }
  return {whole};
}

std::vector<TensorType> infer_slice(const Attrs& attrs, Types in) {
  return {slice_of("slice", unpack_attrs<SliceAttrs>(attrs), in)};
}

std::vector<TensorType> infer_reduce_scatter(const Attrs& attrs, Types in) {
  expect_summable("reduce_scatter", in);
  return {slice_of("reduce_scatter", unpack_attrs<SliceAttrs>(attrs), in)};
}

std::vector<TensorType> infer_all_reduce(const Attrs& attrs, Types in) {
  expect_axis("all_reduce", unpack_attrs<AxisAttrs>(attrs), in);
  expect_summable("all_reduce", in);
  return {in[0]};
}

// Costs: each rank adds up its share of the sums. What goes over the wire is counted apart.

int64_t ranks_of(const OpSig& sig) { return std::get<int64_t>(*sig.attrs.find("ranks")); }

Cost cost_slice(const OpSig& sig) {
  const int64_t bytes = bytes_of(sig.outputs[0]);
  return {.flops = 0, .bytes_read = bytes, .bytes_written = bytes};
}

// Of n addends of x's size, whose sums are shared out among n ranks.
Cost cost_sum(const OpSig& sig) {
  const int64_t ranks = ranks_of(sig);
  Cost cost = traffic(sig);
  cost.flops = (ranks - 1) * count(sig.inputs[0].shape) / ranks;
  return cost;
}

int64_t wire_gather(const OpSig& sig) { return (ranks_of(sig) - 1) * bytes_of(sig.inputs[0]); }

int64_t wire_reduce_scatter(const OpSig& sig) {
  const int64_t ranks = ranks_of(sig);
  return bytes_of(sig.inputs[0]) / ranks * (ranks - 1);
}

// A reduce-scatter, then an all-gather of the slices. In elements, so that a count that does not divide is
// not cut inside of one.
int64_t wire_all_reduce(const OpSig& sig) {
  const int64_t ranks = ranks_of(sig);
  return 2 * (ranks - 1) * count(sig.inputs[0].shape) / ranks * size_of(sig.inputs[0].dtype);
}

// Scratch: the whole as slices one after another, where they are not so in the tensor.

int64_t scratch_of(const AxisAttrs& on, const Slicing& slicing, const TensorType& whole) {
  return on.ranks > 1 && slicing.outer > 1 ? bytes_of(whole) : 0;
}

int64_t scratch_gather(const OpSig& sig, int) {
  const auto a = unpack_attrs<GatherAttrs>(sig.attrs);
  return scratch_of(a.on, slicing_of(a.from, a.dim, sig.inputs[0].shape), sig.outputs[0]);
}

int64_t scratch_reduce_scatter(const OpSig& sig, int) {
  const auto a = unpack_attrs<SliceAttrs>(sig.attrs);
  return scratch_of(a.on, slicing_of(a.to, a.dim, sig.outputs[0].shape), sig.inputs[0]);
}

// Gradients

ValueId emit_one(GradientBuilder& builder, std::string_view kind, Attrs attrs, ValueId dy) {
  return builder.emit({.kind = std::string(kind),
                       .attrs = std::move(attrs),
                       .inputs = {dy},
                       .outputs = {},
                       .names = {"dx"}})[0];
}

// The gather that undoes a cut of x, input 0 of builder's op.
Attrs gather_back(const GradientBuilder& builder) {
  const auto a = unpack_attrs<SliceAttrs>(builder.op().attrs);
  return pack_attrs(GatherAttrs{a.on, a.to, a.dim, builder.input_type(0).shape[0], a.row_dims});
}

// The cut that undoes a gather.
Attrs slice_back(const GradientBuilder& builder) {
  const auto a = unpack_attrs<GatherAttrs>(builder.op().attrs);
  return pack_attrs(SliceAttrs{a.on, a.from, a.dim, a.row_dims});
}

// On tp the gradient of the whole may come as addends: their sum is not needed whole.
void gradient_gather(GradientBuilder& builder) {
  if (!builder.wants_grad(0)) return;
  const auto [whole, addends] = builder.arrived_grad(0);
  if (addends.valid())
    builder.add_input_grad(0, emit_one(builder, "reduce_scatter", slice_back(builder), addends));
  if (whole.valid()) builder.add_input_grad(0, emit_one(builder, "slice", slice_back(builder), whole));
}

// Of slice and of reduce_scatter: both pass on elements of one place.
void gradient_cut(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (dy.valid() && builder.wants_grad(0))
    builder.add_whole_input_grad(0, emit_one(builder, "all_gather", gather_back(builder), dy));
}

void gradient_all_reduce(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (dy.valid()) builder.add_whole_input_grad(0, dy);
}

OpDef move_def(std::string_view name) {
  OpDef def;
  def.name = name;
  def.inputs = {{"x"}};
  def.outputs = {{"y"}};
  def.cost = traffic;
  def.reduction = [](const OpSig&) { return int64_t{1}; };
  return def;
}

OpDef all_gather_def() {
  OpDef def = move_def("all_gather");
  def.infer = infer_gather;
  def.scratch_bytes = scratch_gather;
  def.gradient = gradient_gather;
  def.wire_bytes = wire_gather;
  return def;
}

OpDef slice_def() {
  OpDef def = move_def("slice");
  def.infer = infer_slice;
  def.cost = cost_slice;
  def.gradient = gradient_cut;
  return def;
}

OpDef reduce_scatter_def() {
  OpDef def = move_def("reduce_scatter");
  def.infer = infer_reduce_scatter;
  def.cost = cost_sum;
  def.scratch_bytes = scratch_reduce_scatter;
  def.gradient = gradient_cut;
  def.reduction = ranks_of;
  def.wire_bytes = wire_reduce_scatter;
  return def;
}

OpDef all_reduce_def() {
  OpDef def = move_def("all_reduce");
  def.infer = infer_all_reduce;
  def.cost = cost_sum;
  def.gradient = gradient_all_reduce;
  def.reduction = ranks_of;
  def.wire_bytes = wire_all_reduce;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace

std::vector<OpEntry> collectives_ops() {
  return {{all_gather_def(), all_gather_reference, all_gather_cases},
          {slice_def(), slice_reference, slice_cases},
          {reduce_scatter_def(), reduce_scatter_reference, reduce_scatter_cases},
          {all_reduce_def(), all_reduce_reference, all_reduce_cases}};
}

}  // namespace trireme
