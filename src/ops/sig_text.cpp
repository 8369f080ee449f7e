// By way of the IR's own printer.
#include "ops/sig_text.h"

#include "ir/print.h"

namespace trireme {

std::string sig_text(const OpSig& sig) {
  std::vector<Value> values;
  Op op{sig.kind, sig.attrs, {}, {}};
  const auto add = [&](const std::vector<TensorType>& types, std::vector<ValueId>& ids) {
    for (const TensorType& type : types) {
      ids.push_back(ValueId(static_cast<int64_t>(values.size())));
      values.push_back({to_string(type), type, ValueRole::local, {}});
    }
  };
  add(sig.inputs, op.inputs);
  add(sig.outputs, op.outputs);
  return op_text(op, values);
}

}  // namespace trireme
