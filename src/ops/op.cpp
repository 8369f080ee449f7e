// Costs and signatures shared by all ops.
#include "ops/op.h"

namespace trireme {

Cost& Cost::operator+=(const Cost& other) {
  flops += other.flops;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  return *this;
}

Cost traffic(const OpSig& sig) {
  Cost cost;
  for (const TensorType& type : sig.inputs) cost.bytes_read += bytes_of(type);
  for (const TensorType& type : sig.outputs) cost.bytes_written += bytes_of(type);
  return cost;
}

std::vector<TensorType> types_of(const std::vector<ValueId>& ids, const std::vector<Value>& values) {
  std::vector<TensorType> types;
  types.reserve(ids.size());
  for (const ValueId id : ids)
    types.push_back(id.valid() ? values[static_cast<size_t>(id.index)].type : absent_type());
  return types;
}

OpSig signature(const Op& op, const std::vector<Value>& values) {
  return {op.kind, op.attrs, types_of(op.inputs, values), types_of(op.outputs, values)};
}

}  // namespace trireme
