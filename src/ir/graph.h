// A Graph: one kind of block (embedding, transformer layer, head), written for one device. Ops are coarse
// and stand in an order in which they can run; every value is made once. src/model/ builds Graphs, passes
// rewrite them, autodiff turns them into Code.
#pragma once
#include <string>
#include <vector>

#include "base/ids.h"
#include "ir/attrs.h"
#include "ir/type.h"

namespace trireme {

using ValueId = Id<struct ValueTag>;

// Where a value comes from and who keeps it. A Graph has input, batch, param, state and local values;
// autodiff and lowering give the other roles in Code.
enum class ValueRole : uint8_t {
  input,        // activation of the block before
  output,       // activation for the block after
  input_grad,   // gradient for the block before
  output_grad,  // gradient from the block after
  batch,        // from the data loader: tokens, targets, positions, doc_start
  param,        // compute copy of a parameter
  param_grad,   // fp32 accumulator of a parameter's gradient: every op that yields it adds to it
  prepared,     // made from parameters once per unshard (packed weights), read by many micro-batches
  state,        // lives from step to step: master weights, moments, KV cache, scalars
  saved,        // kept from forward to backward, per micro-batch
  held,         // kept from the input part to the weight part of backward, per micro-batch
  local,        // lives within one action
};

std::string_view name_of(ValueRole role);

struct Value {
  std::string name;
  TensorType type;
  ValueRole role = ValueRole::local;
  Placements placements;
  bool operator==(const Value&) const = default;
};

struct Op {
  std::string kind;  // the name in the op table
  Attrs attrs;
  std::vector<ValueId> inputs;   // an invalid id stands for an optional operand that is not given
  std::vector<ValueId> outputs;  // likewise
  bool operator==(const Op&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<ValueId> outputs;  // activations for the next block, or the loss

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id.index)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id.index)]; }
  bool operator==(const Graph&) const = default;
};

ValueId add_value(Graph& graph, Value value);

bool reads(const Op& op, ValueId value);

// The ids of the values with `role`, in order.
std::vector<ValueId> values_with(const std::vector<Value>& values, ValueRole role);

}  // namespace trireme
