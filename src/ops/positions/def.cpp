// Definitions of positions and positions_grad.
#include "ops/positions/positions.h"

#include <algorithm>
#include <stdexcept>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void positions_reference(const OpSig& sig, const Operands& operands);
void positions_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> positions_cases();
std::vector<OpCase> positions_grad_cases();

namespace {

bool fits_positions(const TensorType& positions, const TensorType& x) {
  return !present(positions) ||
         (positions.dtype == DType::i32 && positions.shape == Shape{x.shape[0], x.shape[1]});
}

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  const TensorType& x = in[0];
  const TensorType& table = in[1];
  expect_types(is_compute(x.dtype) && x.shape.size() == 3, "positions", "x is [B,T,C]", in);
  expect_types(table.dtype == x.dtype && table.shape.size() == 2 && table.shape[1] == x.shape[2], "positions",
               "the table is [P,C] of x's dtype", in);
  expect_types(fits_positions(in[2], x), "positions", "positions are i32[B,T]", in);
  expect_types(present(in[2]) || table.shape[0] >= x.shape[1], "positions", "the table has at least T rows",
               in);
  return {x};
}

// Rows of the table that T positions can touch.
int64_t table_bytes(int64_t table_rows, const TensorType& x, int64_t element_bytes) {
  return std::min(table_rows, x.shape[0] * x.shape[1]) * x.shape[2] * element_bytes;
}

// Of the table only the rows in use are read: T, or with given positions at most B*T.
Cost cost(const OpSig& sig) {
  const TensorType& x = sig.inputs[0];
  const int64_t rows = present(sig.inputs[2]) ? sig.inputs[1].shape[0] : x.shape[1];
  return {.flops = count(x.shape),
          .bytes_read = bytes_of(x) + table_bytes(rows, x, size_of(x.dtype)) + bytes_of(sig.inputs[2]),
          .bytes_written = bytes_of(x)};
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  builder.add_input_grad(0, dy);
  if (!builder.wants_grad(1)) return;
  builder.emit({"positions_grad",
                pack_attrs(PositionsGradAttrs{builder.input_type(1).shape[0]}),
                {dy, builder.input(2)},
                {builder.param_grad(1)},
                {}});
}

// Without explicit positions a row's is its index, which only whole sequences have.
Cut place(const PlaceQuery& query) {
  if (present(query.inputs[2])) return place_by_rows(query);
  if (query.axis == BlockAxis::cp)
    throw std::invalid_argument("learned positions over a cut sequence must be given");
  return place_whole(query);
}

std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  const TensorType& dy = in[0];
  const int64_t context = unpack_attrs<PositionsGradAttrs>(attrs).context;
  expect_types(is_compute(dy.dtype) && dy.shape.size() == 3, "positions_grad", "dy is [B,T,C]", in);
  expect_types(fits_positions(in[1], dy), "positions_grad", "positions are i32[B,T]", in);
  expect_types(present(in[1]) || context >= dy.shape[1], "positions_grad", "context is at least T", in);
  return {{DType::f32, {context, dy.shape[2]}}};
}

Cost cost_grad(const OpSig& sig) {
  const TensorType& dy = sig.inputs[0];
  const int64_t rows = present(sig.inputs[1]) ? sig.outputs[0].shape[0] : dy.shape[1];
  const int64_t touched = table_bytes(rows, dy, size_of(DType::f32));  // read, added to and written
  return {.flops = count(dy.shape),
          .bytes_read = bytes_of(dy) + bytes_of(sig.inputs[1]) + touched,
          .bytes_written = touched};
}

}  // namespace

std::vector<OpEntry> positions_ops() {
  OpDef positions;
  positions.name = "positions";
  positions.inputs = {{"x"}, {"table"}, {"positions", OperandDef::Use::optional}};
  positions.outputs = {{"y"}};
  positions.infer = infer;
  positions.cost = cost;
  positions.gradient = gradient;
  positions.place = place;
  positions.reduction = [](const OpSig&) { return int64_t{2}; };
  positions.in_place = {{0, 0}};

  OpDef grad;
  grad.name = "positions_grad";
  grad.inputs = {{"dy"}, {"positions", OperandDef::Use::optional}};
  grad.outputs = {{"dtable", OperandDef::Use::accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  grad.reduction = [](const OpSig& sig) {
    const Shape& dy = sig.inputs[0].shape;
    return 1 + dy[0] * (present(sig.inputs[1]) ? dy[1] : 1);
  };

  return {{positions, positions_reference, positions_cases},
          {grad, positions_grad_reference, positions_grad_cases}};
}

}  // namespace trireme
