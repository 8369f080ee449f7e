// Which collective leads from one placement to another. Between two slices the way leads over the whole.
#include "passes/redistribute.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ops/collectives/collectives.h"
#include "ops/op.h"

namespace trireme {
namespace {

using Kind = Placement::Kind;

bool is_slice(const Placement& p) { return p.kind == Kind::rows || p.kind == Kind::shard; }

// As the collectives' attributes name a slice.
std::string cut_name(const Placement& p) { return p.kind == Kind::rows ? "rows" : "shard"; }

std::string suffix_of(const Placement& p) {
  return p.kind == Kind::rows ? ".rows" : p.kind == Kind::shard ? fmt::format(".shard{}", p.dim) : ".whole";
}

}  // namespace

Redistributor::Step Redistributor::step_towards(const Value& value, const Placement& to) const {
  const Placement& from = value.placements.axes[static_cast<size_t>(share_.axis)];
  const AxisAttrs on{std::string(name_of(share_.axis)), share_.ranks, share_.rank};
  if (is_slice(from))
    return {"all_gather", suffix_of(kReplicate),
            pack_attrs(GatherAttrs{.on = on, .from = cut_name(from), .dim = from.dim, .batch = share_.batch}),
            kReplicate};
  if (from.kind == Kind::partial && to == kReplicate)
    return {"all_reduce", suffix_of(to), pack_attrs(on), to};
  CHECK(is_slice(to), "{}: no way leads to addends", value.name);
  const Attrs attrs = pack_attrs(SliceAttrs{.on = on, .to = cut_name(to), .dim = to.dim});
  return {from.kind == Kind::partial ? "reduce_scatter" : "slice", suffix_of(to), attrs, to};
}

ValueId Redistributor::move(ValueId value, const Placement& to) {
  const auto axis = static_cast<size_t>(share_.axis);
  while (graph_.value(value).placements.axes[axis] != to) {
    Step step = step_towards(graph_.value(value), to);
    const auto [it, fresh] = moved_.try_emplace({value, step.suffix});
    if (fresh) {
      Value made = graph_.value(value);
      made.name += fmt::format(".{}{}", name_of(share_.axis), step.suffix);
      made.role = ValueRole::local;
      made.placements.axes[axis] = step.made;
      const TensorType type = made.type;
      made.type = op_def(step.kind).infer(step.attrs, {&type, 1})[0];
      it->second = add_value(graph_, std::move(made));
      graph_.ops.push_back({step.kind, std::move(step.attrs), {value}, {it->second}});
    }
    value = it->second;
  }
  return value;
}

}  // namespace trireme
