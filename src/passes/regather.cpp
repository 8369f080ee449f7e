// From the forward's gathers to the backward's reads.
#include "passes/regather.h"

namespace trireme {
namespace {

Value& value_of(Code& code, ValueId id) { return code.values[static_cast<size_t>(id.index)]; }

// The first op of backward that reads the value, or their number.
size_t first_read(const Code& code, ValueId value) {
  size_t i = 0;
  while (i < code.backward.size() && !reads(code.backward[i], value)) ++i;
  return i;
}

bool is_read_by(const Code& code, ValueId value, Part part) {
  for (size_t i = 0; i < code.backward.size(); ++i)
    if (code.parts[i] == part && reads(code.backward[i], value)) return true;
  return false;
}

}  // namespace

void regather(Code& code, BackwardForm form) {
  for (const Op& gather : std::vector<Op>(code.forward)) {
    if (gather.kind != "all_gather" || value_of(code, gather.outputs[0]).role != ValueRole::saved) continue;
    const ValueId whole = gather.outputs[0], slice = gather.inputs[0];
    const ValueRole source = value_of(code, slice).role;
    // What a block gets or keeps anyway is there in backward.
    if (source == ValueRole::local) value_of(code, slice).role = ValueRole::saved;
    Value again = value_of(code, whole);
    again.name += ".again";
    again.role = ValueRole::local;
    value_of(code, whole).role = ValueRole::local;
    const ValueId id(static_cast<int64_t>(code.values.size()));
    code.values.push_back(std::move(again));
    const size_t at = first_read(code, whole);
    const Part part = is_read_by(code, whole, Part::input) ? Part::input : Part::weight;
    const bool crosses = part == Part::input && is_read_by(code, whole, Part::weight);
    if (crosses && form == BackwardForm::split) code.values.back().role = ValueRole::held;
    for (Op& op : code.backward)
      for (ValueId& input : op.inputs)
        if (input == whole) input = id;
    Op op = gather;
    op.outputs = {id};
    code.backward.insert(code.backward.begin() + static_cast<std::ptrdiff_t>(at), std::move(op));
    code.parts.insert(code.parts.begin() + static_cast<std::ptrdiff_t>(at), part);
  }
}

}  // namespace trireme
