// What an op's gradient rule sees: its operands, the gradients that arrive at its outputs, and a place to
// emit backward ops. Implemented by the autodiff pass.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/placing.h"

namespace trireme {

// What autodiff has so far. Values grow as ops are emitted.
struct Tape {
  std::vector<Value>& values;
  std::vector<Op>& forward;
  std::vector<Op> backward;            // in the order of emission
  std::vector<bool> wants_grad;        // by value of the forward graph
  std::vector<ValueId> grads;          // by value: the sum of what has arrived, or invalid
  std::vector<ValueId> partial_grads;  // likewise, of what are addends over the ranks of tp
  std::vector<ValueId> param_grads;    // by value: the accumulator of a parameter, made on first use
  AxisAttrs tp;                        // whose ranks addends are summed over
};

// The sum of two gradients of `value`, of which the earlier may be invalid: then it is the later one.
ValueId sum_grads(Tape& tape, ValueId value, ValueId earlier, ValueId later);

// All that has arrived for `value`, whole: addends are summed over ranks. Invalid when nothing has.
ValueId finished_grad(Tape& tape, ValueId value);

class GradientBuilder {
 public:
  GradientBuilder(Tape& tape, size_t forward_index);

  const Op& op() const;
  ValueId input(int i) const;                 // invalid when absent
  const TensorType& input_type(int i) const;  // of an input that is there
  ValueId output(int i) const;                // using one in an emitted op saves it from forward to backward

  // The gradient that arrived at output i; invalid when none does (nobody used it). Where it came in addends
  // over the ranks of tp, this emits their sum.
  ValueId output_grad(int i);

  // The two apart, for ops that move values between ranks: what arrived at output i as addends over the ranks
  // of tp, and what is whole. Invalid when there is none.
  struct ArrivedGrad {
    ValueId whole, addends;
  };
  ArrivedGrad arrived_grad(int i) const;

  // Whether input i is an activation or a parameter that wants a gradient.
  bool wants_grad(int i) const;

  // The accumulator for the gradient of parameter input i; invalid when it wants none or is absent. Pass it
  // as an `accumulate` output.
  ValueId param_grad(int i);

  // Takes away the gradient that other users of input i have contributed so far, so that a fused kernel can
  // add it: invalid when there is none. What is then given to add_input_grad must contain it.
  ValueId take_input_grad(int i);

  // Gives `grad` to activation input i; contributions are summed with `add`. Where the input is whole on
  // every rank of tp but the op works on a part of its heads, rows or columns, the contribution is an addend.
  void add_input_grad(int i, ValueId grad);
  // The same for an op that has made `grad` whole.
  void add_whole_input_grad(int i, ValueId grad);

  // A new backward op. Outputs: an invalid id asks for a fresh value named after `names`; a valid one (an
  // accumulator) is used as it is. `names[i]` empty leaves optional output i absent. Returns the output ids.
  struct Emit {
    std::string kind;
    Attrs attrs;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    std::vector<std::string> names;
  };
  std::vector<ValueId> emit(const Emit& emit);

  // Replaces the op in the FORWARD list by `emit`, whose first outputs are the op's own; further outputs are
  // the loss's gradients, computed at once since the gradient of the loss itself is the constant 1 (sum of
  // token losses; the division by counted tokens happens once per step, in the optimizer). Returns the output
  // ids.
  std::vector<ValueId> replace_forward(const Emit& emit);

 private:
  bool gives_addends(int i) const;
  void add_grad(std::vector<ValueId>& sums, ValueId value, ValueId grad);

  Tape& tape_;
  size_t index_;
};

}  // namespace trireme
