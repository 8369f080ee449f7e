// Definitions of embedding and embedding_grad.
#include <algorithm>

#include "ops/embedding/embedding.h"
#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void embedding_reference(const OpSig& sig, const Operands& operands);
void embedding_grad_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> embedding_cases();
std::vector<OpCase> embedding_grad_cases();

namespace {

std::vector<TensorType> infer(const Attrs&, std::span<const TensorType> in) {
  const TensorType& tokens = in[0];
  const TensorType& table = in[1];
  expect_types(tokens.dtype == DType::i32 && tokens.shape.size() == 2, "embedding", "tokens are i32[B,T]",
               in);
  expect_types(is_compute(table.dtype) && table.shape.size() == 2, "embedding", "the table is [V,C]", in);
  return {{table.dtype, {tokens.shape[0], tokens.shape[1], table.shape[1]}}};
}

// Only the rows that are looked up are read, so this is less than the traffic of a whole table. Of a part of
// a table it is the most that can be.
Cost cost(const OpSig& sig) {
  const int64_t rows = bytes_of(sig.outputs[0]);
  return {.flops = 0,
          .bytes_read = bytes_of(sig.inputs[0]) + std::min(rows, bytes_of(sig.inputs[1])),
          .bytes_written = rows};
}

void gradient(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid() || !builder.wants_grad(1)) return;
  const auto a = unpack_attrs<EmbeddingAttrs>(builder.op().attrs);
  builder.emit({"embedding_grad",
                pack_attrs(EmbeddingGradAttrs{builder.input_type(1).shape[0], a.first}),
                {builder.input(0), dy},
                {builder.param_grad(1)},
                {}});
}

// Of a table that is cut by its rows each rank yields what it has, and zeros: an addend. (Shazeer et al.
// 2018, Mesh-TensorFlow; Shoeybi et al. 2019, Megatron-LM, section 3.) Else tokens stay where they are.
Cut place(const PlaceQuery& query) {
  if (query.placed[1] != shard_of(0)) {
    const Placement at = query.placed[0];
    return keep_op(query, {at, kReplicate}, at);
  }
  Cut cut = keep_op(query, {kReplicate, shard_of(0)}, kPartial);
  const int64_t rows = query.inputs[1].shape[0];  // of this rank
  cut.attrs =
      pack_attrs(EmbeddingAttrs{unpack_attrs<EmbeddingAttrs>(query.op.attrs).first + query.rank * rows});
  return cut;
}

std::vector<TensorType> infer_grad(const Attrs& attrs, std::span<const TensorType> in) {
  const TensorType& tokens = in[0];
  const TensorType& dy = in[1];
  expect_types(tokens.dtype == DType::i32 && tokens.shape.size() == 2, "embedding_grad",
               "tokens are i32[B,T]", in);
  expect_types(is_compute(dy.dtype) && dy.shape.size() == 3 && dy.shape[0] == tokens.shape[0] &&
                   dy.shape[1] == tokens.shape[1],
               "embedding_grad", "dy is [B,T,C]", in);
  return {{DType::f32, {unpack_attrs<EmbeddingGradAttrs>(attrs).vocab, dy.shape[2]}}};
}

// Only the rows of tokens that occur are touched: read, added to and written.
Cost cost_grad(const OpSig& sig) {
  const int64_t touched =
      std::min(count(sig.inputs[1].shape) * size_of(DType::f32), bytes_of(sig.outputs[0]));
  return {.flops = count(sig.inputs[1].shape),
          .bytes_read = bytes_of(sig.inputs[0]) + bytes_of(sig.inputs[1]) + touched,
          .bytes_written = touched};
}

}  // namespace

std::vector<OpEntry> embedding_ops() {
  OpDef embedding;
  embedding.name = "embedding";
  embedding.inputs = {{"tokens"}, {"table"}};
  embedding.outputs = {{"y"}};
  embedding.infer = infer;
  embedding.cost = cost;
  embedding.gradient = gradient;
  embedding.place = place;
  embedding.reduction = [](const OpSig&) { return int64_t{1}; };

  OpDef grad;
  grad.name = "embedding_grad";
  grad.inputs = {{"tokens"}, {"dy"}};
  grad.outputs = {{"dtable", OperandDef::Use::accumulate}};
  grad.infer = infer_grad;
  grad.cost = cost_grad;
  // Every position may hold the same token.
  grad.reduction = [](const OpSig& sig) { return count(sig.inputs[0].shape) + 1; };

  return {{embedding, embedding_reference, embedding_cases},
          {grad, embedding_grad_reference, embedding_grad_cases}};
}

}  // namespace trireme
