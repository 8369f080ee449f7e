// Definitions of mtp_targets, stack_batch and unstack_batch.
#include "ops/mtp/mtp.h"

#include <algorithm>

#include "ops/folders.h"
#include "ops/gradient.h"
#include "ops/shape_rule.h"

namespace trireme {

void mtp_targets_reference(const OpSig& sig, const Operands& operands);
void stack_batch_reference(const OpSig& sig, const Operands& operands);
void unstack_batch_reference(const OpSig& sig, const Operands& operands);
std::vector<OpCase> mtp_targets_cases();
std::vector<OpCase> stack_batch_cases();
std::vector<OpCase> unstack_batch_cases();

namespace {

TensorType doubled(TensorType type) {
  type.shape[0] *= 2;
  return type;
}

std::vector<TensorType> infer_targets(const Attrs&, std::span<const TensorType> in) {
  expect_types(in[0].dtype == DType::i32 && in[0].shape.size() == 2, "mtp_targets", "targets are i32[B,T]",
               in);
  return {in[0], doubled(in[0])};
}

std::vector<TensorType> infer_stack(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && in[0] == in[1] && !in[0].shape.empty(), "stack_batch",
               "both are f32 or bf16 of one shape", in);
  return {doubled(in[0])};
}

std::vector<TensorType> infer_unstack(const Attrs&, std::span<const TensorType> in) {
  expect_types(is_compute(in[0].dtype) && !in[0].shape.empty() && in[0].shape[0] % 2 == 0, "unstack_batch",
               "the first dim is even", in);
  TensorType half = in[0];
  half.shape[0] /= 2;
  return {half, half};
}

void gradient_stack(GradientBuilder& builder) {
  const ValueId dy = builder.output_grad(0);
  if (!dy.valid()) return;
  const auto made = builder.emit({"unstack_batch", {}, {dy}, {}, {"stack.da", "stack.db"}});
  builder.add_input_grad(0, made[0]);
  builder.add_input_grad(1, made[1]);
}

// A row's further token is its neighbour's target, which another rank may have.
Cut place_targets(const PlaceQuery& query) {
  if (query.axis != BlockAxis::cp) return place_whole(query);
  Cut cut = keep_op(query, {shard_of(1)}, shard_of(1));
  cut.attrs = pack_attrs(MtpTargetsAttrs{std::string(query.cp_mode), axis_attrs(query)});
  return cut;
}

int64_t ranks_of(const OpSig& sig) { return unpack_attrs<MtpTargetsAttrs>(sig.attrs).axis.ranks; }

int64_t wire_targets(const OpSig& sig) { return (ranks_of(sig) - 1) * bytes_of(sig.inputs[0]); }

// The ranks' targets.
int64_t scratch_targets(const OpSig& sig, int) {
  const int64_t ranks = ranks_of(sig);
  return ranks > 1 ? ranks * bytes_of(sig.inputs[0]) : 0;
}

// The halves of a slice of rows are no slice of the rows of both.
Cut place_stack(const PlaceQuery& query) {
  const bool apart = std::any_of(query.placed.begin(), query.placed.end(), [](const Placement& p) {
    return p.kind == Placement::Kind::rows || p.kind == Placement::Kind::partial || p == shard_of(0);
  });
  return apart ? place_whole(query) : place_by_rows(query);
}

OpDef plain(std::string_view name, std::vector<OperandDef> inputs, std::vector<OperandDef> outputs) {
  OpDef def;
  def.name = name;
  def.inputs = std::move(inputs);
  def.outputs = std::move(outputs);
  def.cost = [](const OpSig& sig) { return traffic(sig); };
  def.reduction = [](const OpSig&) { return int64_t{1}; };
  return def;
}

}  // namespace

std::vector<OpEntry> mtp_ops() {
  OpDef targets = plain("mtp_targets", {{"targets"}}, {{"next_ids"}, {"all"}});
  targets.infer = infer_targets;
  targets.place = place_targets;
  targets.wire_bytes = wire_targets;
  targets.scratch_bytes = scratch_targets;
  OpDef stack = plain("stack_batch", {{"a"}, {"b"}}, {{"y"}});
  stack.infer = infer_stack;
  stack.gradient = gradient_stack;
  stack.place = place_stack;
  OpDef unstack = plain("unstack_batch", {{"y"}}, {{"a"}, {"b"}});
  unstack.infer = infer_unstack;
  return {{targets, mtp_targets_reference, mtp_targets_cases},
          {stack, stack_batch_reference, stack_batch_cases},
          {unstack, unstack_batch_reference, unstack_batch_cases}};
}

}  // namespace trireme
