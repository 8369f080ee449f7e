// Equal blocks share their Code, so each section of each is counted once.
#include "plan/executed_flops.h"

#include <map>

#include "ops/op.h"

namespace trireme {
namespace {

double flops_of(const Code& code, Section section) {
  double flops = 0;
  for (const Op* op : ops_of(code, section))
    flops += static_cast<double>(op_def(op->kind).cost(signature(*op, code.values)).flops);
  return flops;
}

}  // namespace

double executed_flops(const Program& program, const Timeline& timeline) {
  std::map<std::pair<CodeId, Section>, double> known;
  double sum = 0;
  for (const Action& action : timeline.actions) {
    if (!action.unit.valid()) continue;
    const CodeId id = program.unit(action.unit).code;
    const auto [it, fresh] = known.try_emplace({id, section_of(action.kind)});
    if (fresh) it->second = flops_of(program.code(id), section_of(action.kind));
    sum += it->second;
  }
  return sum;
}

}  // namespace trireme
