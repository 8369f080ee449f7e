// A sum over actions; blocks that share a Code are costed once.
#include "compile/flops_report.h"

#include <map>
#include <utility>

#include "ops/op.h"

namespace trireme {
namespace {

int64_t section_flops(const Code& code, Section section) {
  int64_t flops = 0;
  for (const Op* op : ops_of(code, section))
    flops += op_def(op->kind).cost(signature(*op, code.values)).flops;
  return flops;
}

}  // namespace

int64_t block_flops(const Code& code) {
  return section_flops(code, Section::forward) + section_flops(code, Section::backward);
}

int64_t program_flops(const Program& program, const Timeline& timeline) {
  std::map<std::pair<CodeId, Section>, int64_t> known;
  int64_t flops = 0;
  for (const Action& action : timeline.actions) {
    if (action.kind != ActionKind::forward && !is_backward(action.kind)) continue;
    const CodeId code = program.unit(action.unit).code;
    const Section section = section_of(action.kind);
    const auto [it, fresh] = known.try_emplace({code, section});
    if (fresh) it->second = section_flops(program.code(code), section);
    flops += it->second;
  }
  return flops;
}

}  // namespace trireme
