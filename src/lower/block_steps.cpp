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

Touched touched_by(const Code& code, Section section) {
  const std::vector<const Op*> ops = ops_of(code, section);
  const auto is_read = [&](ValueId id) {
    return std::any_of(ops.begin(), ops.end(), [&](const Op* op) { return reads(*op, id); });
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
      packed =
          packed || (reads(op, params[slot]) && std::any_of(op.outputs.begin(), op.outputs.end(), is_read));
    touched.packs = touched.packs || packed;
    if (packed || is_read(params[slot])) touched.read.push_back(slot);
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

class Opener {
 public:
  Opener(const Program& program, const StepPlan& plan) : program_(program), plan_(plan) {}

  void open(const ScheduleStep& step, size_t row) {
    const BlockRange range = plan_.map.stages[static_cast<size_t>(step.stage)];
    if (step.kind == StepKind::forward)
      for (size_t b = range.first; b < range.end; ++b) add(ActionKind::forward, row, b, step.micro_batch);
    else
      for (size_t b = range.end; b-- > range.first;) go_back(step, row, b);
  }

  std::vector<BlockStep> steps() {
    std::map<std::pair<size_t, int64_t>, Addition*> latest;
    for (BlockStep& step : steps_)
      for (Addition& addition : step.adds) {
        Addition*& last = latest[{addition.slot, addition.lane}];
        addition.first = last == nullptr;
        last = &addition;
      }
    for (const auto& [key, addition] : latest) addition->last = true;
    return std::move(steps_);
  }

 private:
  void go_back(const ScheduleStep& step, size_t row, size_t b) {
    const bool whole = step.kind == StepKind::backward;
    if (whole && plan_.form == BackwardForm::whole)
      return add(ActionKind::backward, row, b, step.micro_batch);
    CHECK(plan_.form == BackwardForm::split, "a part of a backward that is whole");
    if (whole || step.kind == StepKind::backward_input)
      add(ActionKind::backward_input, row, b, step.micro_batch);
    if (whole || step.kind == StepKind::backward_weight)
      add(ActionKind::backward_weight, row, b, step.micro_batch);
  }

  void add(ActionKind kind, size_t row, size_t b, int32_t micro_batch) {
    const ChainBlock& block = plan_.chain[b];
    const Code& code = program_.code(block.code);
    if (ops_of(code, section_of(kind)).empty()) return;
    const auto [it, fresh] = known_.try_emplace({block.code, kind});
    if (fresh) it->second = touched_by(code, section_of(kind));
    BlockStep step{kind, row, b, micro_batch, it->second.packs, groups_of(program_, block, it->second.read),
                   {}};
    for (const size_t g : groups_of(program_, block, it->second.added_to))
      step.adds.push_back({slot_at(plan_.slots, g, b), micro_batch / plan_.micro_batches_per_lane});
    steps_.push_back(std::move(step));
  }

  const Program& program_;
  const StepPlan& plan_;
  std::map<std::pair<CodeId, ActionKind>, Touched> known_;
  std::vector<BlockStep> steps_;
};

}  // namespace

std::vector<BlockStep> block_steps(const Program& program, const StepPlan& plan,
                                   const std::vector<ScheduleStep>& rows) {
  Opener opener(program, plan);
  for (size_t row = 0; row < rows.size(); ++row) opener.open(rows[row], row);
  return opener.steps();
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
