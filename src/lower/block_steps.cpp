// Rows to steps by the code's own lists; fetches by each group's last use.
#include "lower/block_steps.h"

#include <algorithm>

#include "base/error.h"
#include "ir/code.h"

namespace trireme {
namespace {

// Parameters by their place among the code's values of role param.
struct Touched {
  bool packs = false;
  std::vector<size_t> read, added_to;
};

bool among(const std::vector<ValueId>& ids, ValueId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Touched touched_by(const Code& code, Section section) {
  const std::vector<const Op*> ops = ops_of(code, section);
  const auto reads = [&](ValueId id) {
    return std::any_of(ops.begin(), ops.end(), [&](const Op* op) { return among(op->inputs, id); });
  };
  const auto writes = [&](const std::string& name) {
    return std::any_of(ops.begin(), ops.end(), [&](const Op* op) {
      return std::any_of(op->outputs.begin(), op->outputs.end(), [&](ValueId id) {
        return id.valid() && code.value(id).role == ValueRole::param_grad && code.value(id).name == name;
      });
    });
  };
  Touched touched;
  const std::vector<ValueId> params = values_with(code.values, ValueRole::param);
  for (size_t slot = 0; slot < params.size(); ++slot) {
    bool packed = false;
    for (const Op& op : code.prepare)
      packed = packed ||
               (among(op.inputs, params[slot]) && std::any_of(op.outputs.begin(), op.outputs.end(), reads));
    touched.packs = touched.packs || packed;
    if (packed || reads(params[slot])) touched.read.push_back(slot);
    if (writes(code.value(params[slot]).name + ".grad")) touched.added_to.push_back(slot);
  }
  return touched;
}

std::vector<size_t> groups_of(const Program& program, const ChainBlock& block,
                              const std::vector<size_t>& slots) {
  std::vector<size_t> groups;
  for (const size_t slot : slots) {
    const Param& param = program.params[static_cast<size_t>(block.params[slot].index)];
    groups.push_back(static_cast<size_t>(param.group.index));
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

}  // namespace

std::vector<BlockStep> block_steps(const Program& program, const Chain& chain,
                                   const std::vector<ScheduleStep>& rows) {
  std::map<std::pair<CodeId, ActionKind>, Touched> known;
  std::vector<BlockStep> steps;
  const auto add = [&](ActionKind kind, size_t b, int32_t micro_batch) {
    const ChainBlock& block = chain[b];
    const auto [it, fresh] = known.try_emplace({block.code, kind});
    if (fresh) it->second = touched_by(program.code(block.code), section_of(kind));
    const Touched& touched = it->second;
    steps.push_back({kind, b, micro_batch, touched.packs, groups_of(program, block, touched.read),
                     groups_of(program, block, touched.added_to)});
  };
  for (const ScheduleStep& row : rows) {
    if (row.kind == StepKind::forward) {
      for (size_t b = 0; b < chain.size(); ++b) add(ActionKind::forward, b, row.micro_batch);
    } else {
      CHECK(row.kind == StepKind::backward, "one stage runs its backward whole");
      for (size_t b = chain.size(); b-- > 0;) add(ActionKind::backward, b, row.micro_batch);
    }
  }
  return steps;
}

std::vector<std::vector<size_t>> plan_fetches(const std::vector<BlockStep>& steps, const Sharding& sharding) {
  std::vector<std::vector<size_t>> fetches(steps.size());
  std::map<size_t, size_t> last_use;  // by group
  for (size_t i = 0; i < steps.size(); ++i)
    for (const size_t group : steps[i].reads) {
      const auto [it, first] = last_use.try_emplace(group, i);
      const bool next_round =
          steps[it->second].kind != ActionKind::forward && steps[i].kind == ActionKind::forward;
      const bool kept = !first && (sharding.zero < 3 || it->second + 1 == i ||
                                   (!sharding.reshard_after_forward && !next_round));
      if (!kept) fetches[i].push_back(group);
      it->second = i;
    }
  return fetches;
}

}  // namespace trireme
