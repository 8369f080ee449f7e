// Finds the pairs in each list of the Code and puts one op in their place.
#include "passes/overlap.h"

#include <algorithm>

#include "ops/collectives/collectives.h"
#include "ops/linear/linear.h"
#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

bool is_product(const Op& op) { return op.kind == "linear" || op.kind == "linear_grad_input"; }

std::string use_of(const Op& product) { return product.kind == "linear" ? "forward" : "input_grad"; }

bool has_bias(const Op& product) { return product.inputs.size() > 2 && product.inputs[2].valid(); }

bool moves_rows(const AxisAttrs& on, const std::string& cut, int64_t row_dims) {
  return on.axis == name_of(BlockAxis::tp) && cut == "rows" && row_dims == 2;
}

bool gathers_rows(const Op& op) {
  if (op.kind != "all_gather") return false;
  const auto a = unpack_attrs<GatherAttrs>(op.attrs);
  return moves_rows(a.on, a.from, a.row_dims);
}

bool scatters_rows(const Op& op) {
  if (op.kind != "reduce_scatter") return false;
  const auto a = unpack_attrs<SliceAttrs>(op.attrs);
  return moves_rows(a.on, a.to, a.row_dims);
}

class Overlapper {
 public:
  Overlapper(Code& code, int64_t chunks) : code_(code), chunks_(chunks) {}

  void rewrite(std::vector<Op>& ops, std::vector<Part>* parts) {
    ops_ = &ops;
    parts_ = parts;
    for (size_t i = 0; i < ops.size();) {
      const bool joined = gathers_rows(ops[i]) && join_gather(i);
      if (!joined && is_product(ops[i])) join_scatter(i);
      if (!joined) ++i;  // else the op behind the gather that went is at i
    }
  }

  // Values that nothing makes any more.
  void drop_vanished() {
    std::sort(vanished_.begin(), vanished_.end());
    std::vector<ValueId> now(code_.values.size());
    std::vector<Value> left;
    for (size_t v = 0; v < code_.values.size(); ++v) {
      const ValueId id(static_cast<int64_t>(v));
      if (std::binary_search(vanished_.begin(), vanished_.end(), id)) continue;
      now[v] = ValueId(static_cast<int64_t>(left.size()));
      left.push_back(std::move(code_.values[v]));
    }
    code_.values = std::move(left);
    for (auto* ops : {&code_.prepare, &code_.forward, &code_.backward})
      for (Op& op : *ops)
        for (auto* ids : {&op.inputs, &op.outputs})
          for (ValueId& id : *ids)
            if (id.valid()) id = now[static_cast<size_t>(id.index)];
  }

 private:
  bool join_gather(size_t at) {
    const Op gather = (*ops_)[at];
    const ValueId whole = gather.outputs[0];
    const size_t reader = next_reader(at, whole);
    if (reader == ops_->size() || !same_part(at, reader)) return false;
    Op& product = (*ops_)[reader];
    if (!is_product(product) || product.inputs[0] != whole) return false;
    const bool keep = code_.value(whole).role != ValueRole::local || readers(whole) > 1;
    const auto from = unpack_attrs<GatherAttrs>(gather.attrs);
    product.attrs = pack_attrs(GatherLinearAttrs{overlapped(product, from.on), from.batch, keep ? 1 : 0});
    product.kind = "gather_linear";
    product.inputs[0] = gather.inputs[0];
    product.outputs.push_back(keep ? whole : ValueId());
    if (!keep) vanished_.push_back(whole);
    erase(at);
    return true;
  }

  void join_scatter(size_t at) {
    Op& product = (*ops_)[at];
    const ValueId addends = product.outputs[0];
    const size_t reader = next_reader(at, addends);
    if (reader == ops_->size() || !same_part(at, reader) || has_bias(product)) return;
    const Op& scatter = (*ops_)[reader];
    if (!scatters_rows(scatter) || code_.value(addends).role != ValueRole::local || readers(addends) > 1)
      return;
    product.attrs = pack_attrs(overlapped(product, unpack_attrs<SliceAttrs>(scatter.attrs).on));
    product.kind = "linear_scatter";
    product.inputs.resize(2);
    product.outputs = scatter.outputs;
    vanished_.push_back(addends);
    erase(reader);
  }

  OverlapAttrs overlapped(const Op& product, const AxisAttrs& on) const {
    const auto a = unpack_attrs<LinearAttrs>(product.attrs);
    return {.on = on, .use = use_of(product), .in = a.in, .out = a.out, .chunks = chunks_};
  }
  // The first op behind `at` that reads the value, or the number of ops.
  size_t next_reader(size_t at, ValueId value) const {
    for (size_t i = at + 1; i < ops_->size(); ++i)
      if (reads((*ops_)[i], value)) return i;
    return ops_->size();
  }
  int64_t readers(ValueId value) const {
    return std::count_if(ops_->begin(), ops_->end(), [&](const Op& op) { return reads(op, value); });
  }
  bool same_part(size_t a, size_t b) const { return parts_ == nullptr || (*parts_)[a] == (*parts_)[b]; }
  void erase(size_t at) {
    ops_->erase(ops_->begin() + static_cast<std::ptrdiff_t>(at));
    if (parts_ != nullptr) parts_->erase(parts_->begin() + static_cast<std::ptrdiff_t>(at));
  }

  Code& code_;
  int64_t chunks_;
  std::vector<Op>* ops_ = nullptr;      // of the list at hand
  std::vector<Part>* parts_ = nullptr;  // of backward
  std::vector<ValueId> vanished_;
};

}  // namespace

void overlap_collectives(Code& code, int64_t chunks) {
  Overlapper overlapper(code, chunks);
  overlapper.rewrite(code.forward, nullptr);
  overlapper.rewrite(code.backward, &code.parts);
  overlapper.drop_vanished();
}

}  // namespace trireme
