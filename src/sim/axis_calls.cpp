// The ops of an action one after the other.
#include "sim/axis_calls.h"

#include <algorithm>

namespace trireme {
namespace {

std::vector<PredictedCall> calls_of(const Program& program, const Code& code, Section section,
                                    const Cluster& cluster) {
  std::vector<PredictedCall> calls;
  double now_s = 0;
  for (const Op* op : ops_of(code, section)) {
    const OpPrice price = price_op(program, code, *op, cluster);
    const double end_s = now_s + price.compute_s + price.exposed_s;
    const double beside_s = std::max(now_s, end_s - price.exposed_s - price.hidden_s);
    if (price.axis)
      calls.push_back(
          {op_def(op->kind).name, *price.axis, price.in_parts ? beside_s : now_s, end_s, price.sent_bytes});
    now_s = end_s;
  }
  for (PredictedCall& call : calls) {
    call.start /= now_s;
    call.end /= now_s;
  }
  return calls;
}

}  // namespace

std::span<const PredictedCall> AxisCalls::of(const Action& action) {
  if (action.stream != Stream::compute || !action.unit.valid()) return {};
  const CodeId code = program_.unit(action.unit).code;
  const Section section = section_of(action.kind);
  const auto [at, fresh] = calls_.try_emplace({code, section});
  if (fresh) at->second = calls_of(program_, program_.code(code), section, cluster_);
  return at->second;
}

}  // namespace trireme
