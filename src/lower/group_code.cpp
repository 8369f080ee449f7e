// Small op lists, written out.
#include "lower/group_code.h"

#include <fmt/format.h>

#include "ops/adamw/adamw.h"
#include "ops/cast/cast.h"
#include "ops/expert_bias/expert_bias.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/op.h"
#include "ops/sgd/sgd.h"
#include "ops/sum_rows/sum_rows.h"
#include "ops/zero/zero.h"

namespace trireme {
namespace {

ValueId add_state(Code& code, std::string name, TensorType type) {
  code.values.push_back({std::move(name), std::move(type), ValueRole::state, {}});
  return ValueId(static_cast<int64_t>(code.values.size()) - 1);
}

}  // namespace

Code unshard_code(int64_t elements, int64_t resident, DType compute) {
  Code code;
  code.name = fmt::format("unshard.{}.{}", elements, resident);
  const auto part = [&](const std::string& name, int64_t n) {
    if (n == 0) return;
    const ValueId master = add_state(code, "master_" + name, {DType::f32, {n}});
    const ValueId copy = add_state(code, name, {compute, {n}});
    code.forward.push_back(
        {"cast", pack_attrs(CastAttrs{.to = std::string(name_of(compute))}), {master}, {copy}});
  };
  part("resident", resident);
  part("transient", elements - resident);
  return code;
}

Code cast_code(int64_t elements, DType from, DType to) {
  Code code;
  code.name = fmt::format("cast.{}.{}.{}", name_of(from), name_of(to), elements);
  const ValueId x = add_state(code, "from", {from, {elements}}), y = add_state(code, "to", {to, {elements}});
  code.forward.push_back({"cast", pack_attrs(CastAttrs{.to = std::string(name_of(to))}), {x}, {y}});
  return code;
}

Code combine_code(int64_t elements) {
  Code code;
  code.name = fmt::format("combine.{}", elements);
  const ValueId earlier = add_state(code, "earlier", {DType::f32, {elements}});
  const ValueId later = add_state(code, "later", {DType::f32, {elements}});
  code.forward.push_back({"add", {}, {earlier, later}, {earlier}});
  return code;
}

Code zero_code(int64_t elements) {
  Code code;
  code.name = fmt::format("zero.{}", elements);
  const ValueId grad = add_state(code, "grad", {DType::f32, {elements}});
  code.forward.push_back({"zero", pack_attrs(ZeroAttrs{.count = elements}), {}, {grad}});
  return code;
}

Code norm_partial_code(int64_t elements) {
  Code code;
  code.name = fmt::format("norm_partial.{}", elements);
  const ValueId grad = add_state(code, "grad", {DType::f32, {elements}});
  const ValueId partial = add_state(code, "partial", {DType::f64, {elements / kParamAlignment}});
  code.forward.push_back({"sum_squares", {}, {grad}, {partial}});
  return code;
}

Code group_norm_code(int64_t partials) {
  Code code;
  code.name = fmt::format("group_norm.{}", partials);
  const ValueId input = add_state(code, "partials", {DType::f64, {partials, 1}});
  const ValueId norm = add_state(code, "norm", {DType::f64, {1}});
  code.forward.push_back({"sum_rows", pack_attrs(SumRowsAttrs{}), {input}, {norm}});
  return code;
}

Code grad_norm_code(int64_t partials, const UpdateRule& rule) {
  Code code;
  code.name = "grad_norm";
  const ValueId input = add_state(code, "partials", {DType::f64, {partials}});
  const ValueId scalars = add_state(code, "scalars", step_scalars_type());
  code.forward.push_back(
      {"grad_norm", pack_attrs(GradNormAttrs{.clip_norm = rule.clip_norm}), {input}, {scalars}});
  return code;
}

Code optimizer_code(const std::vector<FlatRange>& ranges, const UpdateRule& rule) {
  Code code;
  code.name = "optimizer";
  const ValueId scalars = add_state(code, "scalars", step_scalars_type());
  for (size_t i = 0; i < ranges.size(); ++i) {
    const FlatRange& range = ranges[i];
    const TensorType type{DType::f32, {range.end - range.begin}};
    code.name += fmt::format(".{}{}", range.end - range.begin, range.decay ? "d" : "");
    const auto state = [&](const char* name) { return add_state(code, fmt::format("{}.{}", name, i), type); };
    const ValueId grad = state("grad");
    std::vector<ValueId> updated{state("master"), state("moment1")};
    const double decay = range.decay ? rule.weight_decay : 0.0;
    if (rule.kind == OptimizerKind::sgd) {
      const SgdAttrs attrs{.momentum = rule.momentum, .weight_decay = decay};
      code.forward.push_back({"sgd", pack_attrs(attrs), {grad, scalars}, updated});
      continue;
    }
    updated.push_back(state("moment2"));
    const AdamwAttrs attrs{.beta1 = rule.beta1, .beta2 = rule.beta2, .eps = rule.eps, .weight_decay = decay};
    code.forward.push_back({"adamw", pack_attrs(attrs), {grad, scalars}, updated});
  }
  return code;
}

Code router_state_code(int64_t experts, double rate) {
  Code code;
  code.name = fmt::format("router_state.{}", experts);
  const TensorType type{DType::f32, {2, experts}};
  const ValueId load = add_state(code, "load", type);
  const ValueId scalars = add_state(code, "scalars", step_scalars_type());
  const std::vector<ValueId> updated{add_state(code, "state", type), add_state(code, "last", type)};
  code.forward.push_back({"expert_bias", pack_attrs(ExpertBiasAttrs{rate}), {load, scalars}, updated});
  return code;
}

Code loss_code(int64_t micro_batches, int64_t lanes) {
  Code code;
  code.name = fmt::format("loss.{}", micro_batches);
  const ValueId losses = add_state(code, "losses", {DType::f64, {micro_batches, 2}});
  const ValueId result = add_state(code, "result", {DType::f64, {2}});
  code.forward.push_back({"sum_rows", pack_attrs(SumRowsAttrs{lanes}), {losses}, {result}});
  return code;
}

}  // namespace trireme
