// Lifetimes by op index, then first fit.
#include "lower/code_layout.h"

#include <array>

#include "base/error.h"
#include "lower/interval_arena.h"
#include "ops/op.h"

namespace trireme {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id.index); }

int64_t pack_side_by_side(const Code& code, ValueRole role, std::vector<int64_t>& offset) {
  int64_t end = 0;
  for (const ValueId id : values_with(code.values, role)) {
    offset[at(id)] = end;
    end += (bytes_of(code.value(id).type) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  }
  return end;
}

class SectionPlanner {
 public:
  SectionPlanner(const Code& code, std::vector<const Op*> ops, int threads, std::vector<int64_t>& offset)
      : code_(code),
        ops_(std::move(ops)),
        threads_(threads),
        offset_(offset),
        last_use_(code.values.size(), -1) {
    for (size_t i = 0; i < ops_.size(); ++i)
      for (const auto* ids : {&ops_[i]->inputs, &ops_[i]->outputs})
        for (const ValueId id : *ids)
          if (is_local(id)) last_use_[at(id)] = static_cast<int64_t>(i);
  }

  int64_t run(std::vector<int64_t>& scratch) {
    for (size_t i = 0; i < ops_.size(); ++i) scratch.push_back(place(*ops_[i], static_cast<int64_t>(i)));
    return arena_.peak_bytes();
  }

 private:
  bool is_local(ValueId id) const { return id.valid() && code_.value(id).role == ValueRole::local; }
  int64_t bytes(ValueId id) const { return bytes_of(code_.value(id).type); }

  // Puts outputs where they may, frees what the op reads last; returns the offset of the op's scratch.
  int64_t place(const Op& op, int64_t index) {
    const OpDef& def = op_def(op.kind);
    std::vector<bool> handed_on(op.inputs.size());
    for (size_t o = 0; o < op.outputs.size(); ++o) {
      if (!is_local(op.outputs[o]) || offset_[at(op.outputs[o])] >= 0) continue;
      const int source = reusable_input(op, def, static_cast<int>(o), index, handed_on);
      if (source >= 0) handed_on[static_cast<size_t>(source)] = true;
      offset_[at(op.outputs[o])] = source >= 0 ? offset_[at(op.inputs[static_cast<size_t>(source)])]
                                               : arena_.take(bytes(op.outputs[o]));
    }
    const int64_t scratch_bytes =
        def.scratch_bytes != nullptr ? def.scratch_bytes(signature(op, code_.values), threads_) : 0;
    const int64_t scratch = scratch_bytes > 0 ? arena_.take(scratch_bytes) : 0;
    if (scratch_bytes > 0) arena_.give_back(scratch, scratch_bytes);
    release(op.inputs, index, handed_on);
    release(op.outputs, index, {});
    return scratch;
  }

  // An input whose memory output `o` may take over, or -1.
  int reusable_input(const Op& op, const OpDef& def, int o, int64_t index,
                     const std::vector<bool>& handed_on) const {
    for (const auto& [in, out] : def.in_place) {
      if (out != o || static_cast<size_t>(in) >= op.inputs.size()) continue;
      const ValueId id = op.inputs[static_cast<size_t>(in)];
      if (is_local(id) && last_use_[at(id)] == index && !handed_on[static_cast<size_t>(in)] &&
          bytes(id) == bytes(op.outputs[static_cast<size_t>(o)]) && uses(op.inputs, id) == 1)
        return in;
    }
    return -1;
  }

  static int uses(const std::vector<ValueId>& ids, ValueId id) {
    int n = 0;
    for (const ValueId other : ids) n += other == id ? 1 : 0;
    return n;
  }

  void release(const std::vector<ValueId>& ids, int64_t index, const std::vector<bool>& handed_on) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!is_local(ids[i]) || last_use_[at(ids[i])] != index || (i < handed_on.size() && handed_on[i]))
        continue;
      arena_.give_back(offset_[at(ids[i])], bytes(ids[i]));
      last_use_[at(ids[i])] = -1;  // once, though an op may read it twice
    }
  }

  const Code& code_;
  std::vector<const Op*> ops_;
  int threads_;
  std::vector<int64_t>& offset_;
  std::vector<int64_t> last_use_;
  IntervalArena arena_{kBufferAlignment};
};

}  // namespace

CodeLayout lay_out(const Code& code, const std::vector<BatchField>& fields, int threads, BackwardForm form) {
  CodeLayout layout;
  layout.offset.assign(code.values.size(), -1);
  layout.saved_bytes = pack_side_by_side(code, ValueRole::saved, layout.offset);
  layout.held_bytes = pack_side_by_side(code, ValueRole::held, layout.offset);
  for (const ValueId id : values_with(code.values, ValueRole::batch)) {
    for (const BatchField& field : fields)
      if (field.name == code.value(id).name) layout.offset[at(id)] = field.offset;
    CHECK(layout.offset[at(id)] >= 0, "{}: the batch has no field {}", code.name, code.value(id).name);
  }
  const std::vector<Section> sections =
      form == BackwardForm::split
          ? std::vector{Section::prepare, Section::forward, Section::backward_input, Section::backward_weight}
          : std::vector{Section::prepare, Section::forward, Section::backward};
  for (const Section section : sections) {
    const auto s = static_cast<size_t>(section);
    SectionPlanner planner(code, ops_of(code, section), threads, layout.offset);
    layout.workspace_bytes[s] = planner.run(layout.scratch[s]);
  }
  return layout;
}

}  // namespace trireme
