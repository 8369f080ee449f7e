// One axis after the other; on each, one walk over the ops in their order.
#include "passes/shard.h"

#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "ops/op.h"
#include "passes/redistribute.h"

namespace trireme {
namespace {

class AxisPass {
 public:
  // home: of the activations between blocks.
  AxisPass(Graph& graph, const AxisShare& share, Placement home, std::string_view cp_mode)
      : graph_(graph), share_(share), home_(home), cp_mode_(cp_mode), redistribute_(graph, share) {}

  void place(ValueId id, const Placement& placement) { place_of(graph_.value(id)) = placement; }

  void run() {
    for (Op& op : std::exchange(graph_.ops, {})) cut(std::move(op));
    for (ValueId& output : graph_.outputs)
      if (graph_.value(output).type.dtype != DType::f64) output = redistribute_.move(output, home_);
  }

 private:
  Placement& place_of(Value& value) const { return value.placements.axes[static_cast<size_t>(share_.axis)]; }

  Cut ask(const Op& op) {
    const OpDef& def = op_def(op.kind);
    const std::vector<TensorType> types = types_of(op.inputs, graph_.values);
    std::vector<Placement> placed;
    PlaceQuery query{.op = op,
                     .inputs = types,
                     .placed = {},
                     .params = {},
                     .home = home_,
                     .axis = share_.axis,
                     .ranks = share_.ranks,
                     .rank = share_.rank,
                     .cp_mode = cp_mode_};
    for (const ValueId id : op.inputs) {
      placed.push_back(id.valid() ? place_of(graph_.value(id)) : kReplicate);
      query.params.push_back(id.valid() && graph_.value(id).role == ValueRole::param);
    }
    query.placed = placed;
    Cut cut = (def.place != nullptr ? def.place : place_by_rows)(query);
    CHECK(cut.inputs.size() == op.inputs.size() && cut.outputs.size() == op.outputs.size(),
          "{}: the placement rule of {} forgets an operand", graph_.name, op.kind);
    return cut;
  }

  void cut(Op op) {
    Cut cut = ask(op);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (!op.inputs[i].valid()) continue;
      const Value& value = graph_.value(op.inputs[i]);
      if (value.role != ValueRole::param) {
        op.inputs[i] = redistribute_.move(op.inputs[i], cut.inputs[i]);
        continue;
      }
      CHECK(value.placements.axes[static_cast<size_t>(share_.axis)] == cut.inputs[i],
            "{}: {} wants {} elsewhere, and parameters stay", graph_.name, op.kind, value.name);
    }
    op.kind = std::move(cut.kind);
    op.attrs = std::move(cut.attrs);
    if (cut.then)
      add_in_two(std::move(op), cut);
    else
      add(std::move(op), cut.outputs);
  }

  void add(Op op, const std::vector<Placement>& made) {
    const std::vector<TensorType> types = op_def(op.kind).infer(op.attrs, types_of(op.inputs, graph_.values));
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      if (!op.outputs[i].valid()) continue;
      Value& value = graph_.value(op.outputs[i]);
      value.type = types[i];
      place_of(value) = made[i];
    }
    graph_.ops.push_back(std::move(op));
  }

  // The op without the operand that is not to be summed with the rest, the sum, then that operand's op.
  void add_in_two(Op op, const Cut& cut) {
    const ValueId result = op.outputs[0];
    const ValueId operand = std::exchange(op.inputs[cut.then->input], ValueId());
    Value addend = graph_.value(result);
    addend.name += ".addend";
    addend.role = ValueRole::local;
    op.outputs[0] = add_value(graph_, std::move(addend));
    const ValueId addends = op.outputs[0];
    add(std::move(op), cut.outputs);
    const ValueId sum = redistribute_.move(addends, home_);
    add({cut.then->kind, {}, {sum, operand}, {result}}, {home_});
  }

  Graph& graph_;
  AxisShare share_;
  Placement home_;
  std::string_view cp_mode_;
  Redistributor redistribute_;
};

// On the axes that are longer than 1.
void cut_params(Graph& graph, const std::vector<ParamUse>& uses, const ParamAxes& axes) {
  const std::vector<ValueId> params = values_with(graph.values, ValueRole::param);
  CHECK(params.size() == uses.size(), "{}: {} uses for {} parameters", graph.name, uses.size(),
        params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    Value& param = graph.value(params[i]);
    const Placements cut = placements_of(uses[i], axes);
    for (size_t a = 0; a < cut.axes.size(); ++a)
      if (cut.axes[a] != kReplicate) param.placements.axes[a] = cut.axes[a];
    param.type.shape = cut_param(uses[i], param.type.shape, axes).shape;
  }
}

// Sequences of a micro-batch: the first dim of what the loader fills.
int64_t batch_of(const Graph& graph) {
  for (const ValueRole role : {ValueRole::input, ValueRole::batch})
    for (const ValueId id : values_with(graph.values, role)) return graph.value(id).type.shape[0];
  return 1;
}

void cut_tensors(Graph& graph, const std::vector<ParamUse>& uses, const ShardPlan& plan, int64_t batch) {
  const int64_t ranks = plan.params.tp;
  ParamAxes tp = plan.params;
  tp.ep = 1;  // done
  cut_params(graph, uses, tp);
  const Placement home = plan.sequence ? kRows : kReplicate;
  AxisPass pass(graph, {BlockAxis::tp, ranks, plan.params.tp_rank, batch}, home, plan.cp_mode);
  for (const ValueId id : values_with(graph.values, ValueRole::input)) {
    pass.place(id, home);
    Shape& shape = graph.value(id).type.shape;
    if (plan.sequence) shape = {1, shape[0] * shape[1] / ranks, shape[2]};
  }
  pass.run();
}

// Sequences are cut in the loader already.
void cut_sequences(Graph& graph, const ShardPlan& plan, int64_t batch) {
  AxisPass pass(graph, {BlockAxis::cp, plan.cp, plan.cp_rank, batch}, shard_of(1), plan.cp_mode);
  for (const ValueRole role : {ValueRole::input, ValueRole::batch})
    for (const ValueId id : values_with(graph.values, role)) {
      pass.place(id, shard_of(1));
      int64_t& length = graph.value(id).type.shape[1];
      CHECK(length % plan.cp == 0, "{}: {} context ranks and {} rows of {}", graph.name, plan.cp, length,
            graph.value(id).name);
      length /= plan.cp;
    }
  pass.run();
}

// Each rank brings tokens of its own: only the ops that read experts change.
void cut_experts(Graph& graph, const std::vector<ParamUse>& uses, const ShardPlan& plan, int64_t batch) {
  cut_params(graph, uses, {.ep = plan.params.ep, .ep_rank = plan.params.ep_rank});
  AxisPass(graph, {BlockAxis::ep, plan.params.ep, plan.params.ep_rank, batch}, kReplicate, plan.cp_mode)
      .run();
}

}  // namespace

void shard(Graph& graph, const std::vector<ParamUse>& uses, const ShardPlan& plan) {
  const int64_t batch = batch_of(graph);
  try {
    if (plan.params.ep > 1) cut_experts(graph, uses, plan, batch);
    if (plan.params.tp > 1) cut_tensors(graph, uses, plan, batch);
    if (plan.cp > 1) cut_sequences(graph, plan, batch);
  } catch (const std::invalid_argument& refusal) {
    CHECK(false, "{}: {}", graph.name, refusal.what());
  }
}

}  // namespace trireme
