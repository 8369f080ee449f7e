// Op lists on several ranks of one mesh axis: each rank runs its own list with the CPU kernels on a thread of
// its own, and the kernels talk to each other.
#pragma once
#include <string>
#include <vector>

#include "device/cpu/kernel.h"
#include "ir/graph.h"
#include "ops/harness/values.h"

namespace trireme {

struct RankList {
  std::vector<Op> ops;
  std::vector<Value> values;
  std::vector<Values> contents;  // by value; what is empty becomes zeros
};

// Replaces the contents by what the ops make. Outputs that are no accumulators start as NaN.
// Fails the test at hand where a kernel throws or writes outside its operands.
void run_on_ranks(std::vector<RankList>& ranks, const CpuContext& context);

// A list under way.
class ListWriter {
 public:
  ValueId given(const TensorType& type, Values contents);
  // Appends an op by its shape rule. Returns its outputs; invalid are those that the rule leaves out.
  std::vector<ValueId> emit(const std::string& kind, const Attrs& attrs, std::vector<ValueId> inputs);

  RankList list;
};

// What the list made, after it ran.
const Values& contents_of(const RankList& list, ValueId id);

// One op, its inputs and its outputs as a list; `inputs` in the order of the op's.
RankList list_of(const OpSig& sig, std::vector<Values> inputs);

// The list of the op's gradient rule, with `output_grads` for its outputs (empty: none arrives), run after
// the forward that the rule may have replaced. `params`: inputs that are parameters.
struct Differentiated {
  RankList list;  // forward, then backward
  std::vector<ValueId> input_grads;
};
Differentiated differentiate(const OpSig& sig, std::vector<Values> inputs,
                             const std::vector<Values>& output_grads, const std::vector<bool>& params);

}  // namespace trireme
