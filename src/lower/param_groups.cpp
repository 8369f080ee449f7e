// Who uses a parameter decides its group; how it is used decides its place.
#include "lower/param_groups.h"

#include <algorithm>
#include <map>

#include "lower/buffers.h"

namespace trireme {
namespace {

struct Use {
  std::string group;    // the block's name, or the parameter's own
  bool direct = false;  // an op outside `prepare` reads it
};

bool read_directly(const Code& code, ValueId param) {
  for (const auto* ops : {&code.forward, &code.backward})
    for (const Op& op : *ops)
      if (std::find(op.inputs.begin(), op.inputs.end(), param) != op.inputs.end()) return true;
  return false;
}

std::vector<Use> uses_of(const Program& program, const std::vector<Chain>& chains) {
  std::vector<Use> uses(program.params.size());
  std::map<std::pair<CodeId, ValueId>, bool> direct;
  for (const Chain& chain : chains)
    for (const ChainBlock& block : chain) {
      const Code& code = program.code(block.code);
      const std::vector<ValueId> slots = values_with(code.values, ValueRole::param);
      for (size_t i = 0; i < slots.size(); ++i) {
        Use& use = uses[static_cast<size_t>(block.params[i].index)];
        const bool shared = !use.group.empty() && use.group != block.name;
        use.group = shared ? program.params[static_cast<size_t>(block.params[i].index)].name : block.name;
        const auto [it, fresh] = direct.try_emplace({block.code, slots[i]}, false);
        if (fresh) it->second = read_directly(code, slots[i]);
        use.direct = use.direct || it->second;
      }
    }
  return uses;
}

void extend(std::vector<FlatRange>& ranges, int64_t begin, int64_t end, bool decay) {
  if (!ranges.empty() && ranges.back().decay == decay)
    ranges.back().end = end;
  else
    ranges.push_back({begin, end, decay});
}

}  // namespace

std::vector<GroupPlan> add_groups(Program& program, const std::vector<Chain>& chains,
                                  const Sharding& sharding, bool trains) {
  const std::vector<Use> uses = uses_of(program, chains);
  std::vector<GroupPlan> plans;
  std::map<std::string, std::vector<size_t>> members;
  std::vector<std::string> order;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (members[uses[i].group].empty()) order.push_back(uses[i].group);
    members[uses[i].group].push_back(i);
  }
  for (const std::string& name : order) {
    std::vector<size_t>& list = members[name];
    std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) {
      const auto rank = [&](size_t i) {
        return (uses[i].direct ? 0 : 2) + (program.params[i].decay ? 1 : 0);
      };
      return rank(a) < rank(b);
    });
    ParamGroup group;
    group.name = name;
    GroupPlan plan;
    for (const size_t i : list) {
      Param& param = program.params[i];
      param.group = GroupId(static_cast<int64_t>(program.groups.size()));
      param.offset = group.elements;
      group.elements += (count(param.shape) + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
      if (uses[i].direct) plan.resident_elements = group.elements;
      extend(plan.decay_ranges, param.offset, group.elements, param.decay);
    }
    plan.used_elements = group.elements;
    const int64_t unit = kParamAlignment * sharding.shards;
    group.elements = (group.elements + unit - 1) / unit * unit;
    group.shard_elements = group.elements / sharding.shards;
    group.shard_begin = sharding.shard * group.shard_elements;
    const int64_t bytes = group.shard_elements * size_of(DType::f32);
    group.master = add_buffer(program, name + "/master", BufferClass::master, bytes);
    if (trains) {
      group.moment1 = add_buffer(program, name + "/moment1", BufferClass::moment, bytes);
      group.moment2 = add_buffer(program, name + "/moment2", BufferClass::moment, bytes);
    }
    program.groups.push_back(std::move(group));
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace trireme
