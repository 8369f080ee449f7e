// The oracle interpreter.
#include "ops/harness/interpret.h"

#include <memory>

#include "base/error.h"
#include "ops/op.h"

namespace trireme {
namespace {

// One operand in memory as its dtype asks; null for an absent one.
struct Slot {
  std::unique_ptr<std::byte[]> memory;
  void* pointer() const { return memory.get(); }
};

Slot slot_of(ValueId id, const std::vector<Value>& values, std::vector<Values>& contents) {
  if (!id.valid()) return {};
  const auto i = static_cast<size_t>(id.index);
  const TensorType& type = values[i].type;
  contents[i].resize(static_cast<size_t>(count(type.shape)));
  Slot slot{std::make_unique<std::byte[]>(static_cast<size_t>(bytes_of(type)))};
  encode(contents[i], type.dtype, slot.memory.get());
  return slot;
}

void run_op(const Op& op, const std::vector<Value>& values, std::vector<Values>& contents) {
  std::vector<Slot> slots;
  std::vector<void*> inputs, outputs;
  for (auto [ids, pointers] : {std::pair(&op.inputs, &inputs), std::pair(&op.outputs, &outputs)})
    for (const ValueId id : *ids) {
      slots.push_back(slot_of(id, values, contents));
      pointers->push_back(slots.back().pointer());
    }
  const OpEntry* entry = find_op(op.kind);
  CHECK(entry != nullptr, "no op {}", op.kind);
  entry->reference(signature(op, values), {inputs, outputs, nullptr});
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!op.outputs[i].valid()) continue;
    const auto index = static_cast<size_t>(op.outputs[i].index);
    const TensorType& type = values[index].type;
    contents[index] = decode(static_cast<std::byte*>(outputs[i]), type.dtype, count(type.shape));
  }
}

}  // namespace

void interpret(const std::vector<Op>& ops, const std::vector<Value>& values, std::vector<Values>& contents) {
  contents.resize(values.size());
  for (const Op& op : ops) run_op(op, values, contents);
}

}  // namespace trireme
