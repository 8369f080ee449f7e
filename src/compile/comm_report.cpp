// Sums over ops and transfers.
#include "compile/comm_report.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ops/op.h"
#include "ops/op_axis.h"

namespace trireme {
namespace {

int64_t sent_by(const Code& code, const Op& op) {
  const OpDef& def = op_def(op.kind);
  return def.wire_bytes != nullptr && !axis_of(op).empty() ? def.wire_bytes(signature(op, code.values)) : 0;
}

std::string size_text(int64_t bytes) { return fmt::format("{:>14} B", bytes); }

std::string ops_text(const Code& code, Section section) {
  std::string text;
  for (const Op* op : ops_of(code, section))
    if (sent_by(code, *op) > 0)
      text += fmt::format("  {:<15} {:<3} {:<22} {:<36} {}\n", name_of(section), axis_of(*op), op->kind,
                          op->outputs[0].valid() ? code.value(op->outputs[0]).name : "",
                          size_text(sent_by(code, *op)));
  for (int a = 0; a < kBlockAxes; ++a) {
    const auto axis = static_cast<BlockAxis>(a);
    if (const int64_t bytes = sent_bytes(code, section, axis); bytes > 0)
      text +=
          fmt::format("  {:<15} {:<3} {:<59} {}\n", name_of(section), name_of(axis), "all", size_text(bytes));
  }
  return text;
}

// Blocks that run a code in the timeline, in order.
std::vector<std::pair<CodeId, std::vector<std::string>>> blocks_of(const Program& program,
                                                                   const Timeline& timeline) {
  std::vector<std::pair<CodeId, std::vector<std::string>>> blocks;
  std::set<std::string> seen;
  for (const Action& action : timeline.actions) {
    if (action.kind != ActionKind::forward) continue;
    const Unit& unit = program.unit(action.unit);
    if (!seen.insert(unit.name).second) continue;
    if (blocks.empty() || blocks.back().first != unit.code) blocks.push_back({unit.code, {}});
    blocks.back().second.push_back(unit.name);
  }
  return blocks;
}

std::string transfers_text(const Program& program, const Timeline& timeline) {
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> sums;  // actions, bytes
  for (const Action& action : timeline.actions)
    for (const Transfer& transfer : action.transfers) {
      const std::string& comm = program.comms[static_cast<size_t>(transfer.comm.index)].name;
      auto& [count, bytes] = sums[{std::string(name_of(action.kind)), comm}];
      ++count;
      bytes += sent_bytes(program, transfer);
    }
  std::string text;
  for (const auto& [key, sum] : sums)
    text += fmt::format("  {:<15} {:<14} {:>6} times {:>41}\n", key.first, key.second, sum.first,
                        size_text(sum.second));
  return text;
}

}  // namespace

int64_t sent_bytes(const Program& program, const Transfer& t) {
  const auto ranks = static_cast<int64_t>(program.comms[static_cast<size_t>(t.comm.index)].ranks.size());
  switch (t.op) {
    case CommOp::all_reduce:
      return 2 * (ranks - 1) * t.count / ranks * size_of(t.dtype);
    case CommOp::reduce_scatter:
    case CommOp::all_gather:
      return (ranks - 1) * t.count * size_of(t.dtype);
    case CommOp::send:
      return t.count * size_of(t.dtype);
    case CommOp::recv:
      return 0;
  }
  return 0;
}

int64_t sent_bytes(const Program& program, const Action& action) {
  int64_t bytes = 0;
  for (const Transfer& transfer : action.transfers) bytes += sent_bytes(program, transfer);
  return bytes;
}

int64_t sent_bytes(const Code& code, Section section, BlockAxis axis) {
  int64_t bytes = 0;
  for (const Op* op : ops_of(code, section))
    if (axis_of(*op) == name_of(axis)) bytes += sent_by(code, *op);
  return bytes;
}

std::string comm_text(const Program& program) {
  std::string text = fmt::format("bytes that rank {} of {} sends\n", program.rank, program.mesh.ranks());
  for (const Timeline& timeline : program.timelines) {
    text += fmt::format("timeline {}: inside a block, per micro-batch\n", timeline.name);
    for (const auto& [code, names] : blocks_of(program, timeline)) {
      std::string ops;
      for (const Section section : {Section::forward, Section::backward})
        ops += ops_text(program.code(code), section);
      if (!ops.empty())
        text += names.front() + (names.size() > 1 ? fmt::format(" to {}", names.back()) : "") + "\n" + ops;
    }
    const std::string transfers = transfers_text(program, timeline);
    text += fmt::format("timeline {}: between blocks, in the whole timeline\n", timeline.name) +
            (transfers.empty() ? "  nothing\n" : transfers);
  }
  return text;
}

}  // namespace trireme
