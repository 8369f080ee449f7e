// Rank threads over a LocalWorld, and the lists that they run.
#include "ops/ranks/rank_lists.h"

#include <gtest/gtest.h>

#include "comm/axis_comm.h"
#include "comm/rank_threads.h"
#include "ops/gradient.h"
#include "ops/harness/guarded_buffer.h"
#include "ops/harness/variant.h"

namespace trireme {
namespace {

ValueId add_to(RankList& list, Value value, Values contents) {
  list.values.push_back(std::move(value));
  list.contents.push_back(std::move(contents));
  return ValueId(static_cast<int64_t>(list.values.size()) - 1);
}

const TensorType& type_of(const RankList& list, ValueId id) {
  return list.values[static_cast<size_t>(id.index)].type;
}

GuardedBuffer operand(RankList& list, ValueId id, bool filled) {
  const TensorType type = id.valid() ? type_of(list, id) : absent_type();
  GuardedBuffer buffer(bytes_of(type));
  if (!id.valid() || !filled) return buffer;
  Values& contents = list.contents[static_cast<size_t>(id.index)];
  contents.resize(static_cast<size_t>(count(type.shape)));
  encode(contents, type.dtype, buffer.data());
  return buffer;
}

void run_op(RankList& list, const Op& op, const CpuContext& context, const AxisComm& comm) {
  const OpDef& def = op_def(op.kind);
  const OpSig sig = signature(op, list.values);
  std::vector<GuardedBuffer> inputs, outputs;
  std::vector<void*> input_pointers, output_pointers;
  for (const ValueId id : op.inputs) {
    inputs.push_back(operand(list, id, true));
    input_pointers.push_back(id.valid() ? inputs.back().data() : nullptr);
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    outputs.push_back(operand(list, op.outputs[i], starts_filled(def, i)));
    output_pointers.push_back(op.outputs[i].valid() ? outputs.back().data() : nullptr);
  }
  GuardedBuffer scratch(def.scratch_bytes != nullptr ? def.scratch_bytes(sig, context.threads) : 0);
  find_cpu_kernel(op.kind)(sig, context)({input_pointers, output_pointers, scratch.data(), &comm});
  EXPECT_TRUE(scratch.intact()) << op.kind << " wrote outside its scratch";
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(inputs[i].intact()) << op.kind << " wrote around input " << i;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].valid()) continue;
    EXPECT_TRUE(outputs[i].intact()) << op.kind << " wrote outside output " << i;
    const TensorType& type = sig.outputs[i];
    list.contents[static_cast<size_t>(op.outputs[i].index)] =
        decode(outputs[i].data(), type.dtype, count(type.shape));
  }
}

}  // namespace

void run_on_ranks(std::vector<RankList>& ranks, const CpuContext& context) {
  const int n = static_cast<int>(ranks.size());
  LocalWorld world({.ranks = n, .timeout_s = 60});
  const std::vector<std::string> errors = run_ranks(world, n, [&](int rank) {
    const auto communicator = world.communicator(all_ranks(n), rank, 0);
    CommWorker queue;
    const AxisComm comm{communicator.get(), &queue};
    RankList& list = ranks[static_cast<size_t>(rank)];
    list.contents.resize(list.values.size());
    for (const Op& op : list.ops) run_op(list, op, context, comm);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

ValueId ListWriter::given(const TensorType& type, Values contents) {
  return add_to(list, {fmt::format("v{}", list.values.size()), type, ValueRole::local, {}},
                std::move(contents));
}

std::vector<ValueId> ListWriter::emit(const std::string& kind, const Attrs& attrs,
                                      std::vector<ValueId> inputs) {
  Op op{kind, attrs, std::move(inputs), {}};
  for (const TensorType& type : op_def(kind).infer(attrs, types_of(op.inputs, list.values)))
    op.outputs.push_back(present(type) ? given(type, {}) : ValueId());
  list.ops.push_back(op);
  return op.outputs;
}

const Values& contents_of(const RankList& list, ValueId id) {
  return list.contents[static_cast<size_t>(id.index)];
}

RankList list_of(const OpSig& sig, std::vector<Values> inputs) {
  RankList list;
  const OpDef& def = op_def(sig.kind);
  Op op{sig.kind, sig.attrs, {}, {}};
  for (size_t i = 0; i < sig.inputs.size(); ++i)
    op.inputs.push_back(present(sig.inputs[i])
                            ? add_to(list,
                                     {std::string(def.inputs[i].name), sig.inputs[i], ValueRole::input, {}},
                                     std::move(inputs[i]))
                            : ValueId());
  for (size_t i = 0; i < sig.outputs.size(); ++i)
    op.outputs.push_back(
        add_to(list, {std::string(def.outputs[i].name), sig.outputs[i], ValueRole::local, {}}, {}));
  list.ops = {op};
  return list;
}

Differentiated differentiate(const OpSig& sig, std::vector<Values> inputs,
                             const std::vector<Values>& output_grads, const std::vector<bool>& params) {
  Differentiated made{list_of(sig, std::move(inputs)), {}};
  RankList& list = made.list;
  const Op op = list.ops[0];
  Tape tape{list.values, list.ops, {}, std::vector<bool>(list.values.size()), {}, {}, {}, {}};
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].valid()) continue;
    Value& value = list.values[static_cast<size_t>(op.inputs[i].index)];
    if (params[i]) value.role = ValueRole::param;
    tape.wants_grad[static_cast<size_t>(op.inputs[i].index)] = value.type.dtype != DType::i32;
  }
  tape.grads.resize(list.values.size());
  tape.partial_grads.resize(list.values.size());
  tape.param_grads.resize(list.values.size());
  for (size_t i = 0; i < op.outputs.size(); ++i)
    if (i < output_grads.size() && !output_grads[i].empty())
      tape.grads[static_cast<size_t>(op.outputs[i].index)] =
          add_to(list, {"dy", sig.outputs[i], ValueRole::output_grad, {}}, output_grads[i]);
  GradientBuilder builder(tape, 0);
  op_def(sig.kind).gradient(builder);
  list.ops.insert(list.ops.end(), tape.backward.begin(), tape.backward.end());
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const auto index = static_cast<size_t>(op.inputs[i].index);
    made.input_grads.push_back(!op.inputs[i].valid() ? ValueId()
                               : params[i]           ? tape.param_grads[index]
                                                     : tape.grads[index]);
  }
  return made;
}

}  // namespace trireme
