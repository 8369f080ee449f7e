// Who uses a parameter decides its group; how it is used decides its place.
#include "lower/param_groups.h"

#include <algorithm>
#include <map>
#include <set>

#include "lower/buffers.h"

namespace trireme {
namespace {

struct Use {
  std::string group;  // the block's name, or the parameter's own
  Domain domain = Domain::dense;
  bool tp_addends = false;  // each rank of tp has an addend of its gradient
  bool direct = false;      // an op outside `prepare` reads it,
  bool in_copy = false;     // in the compute dtype
  bool packed = false;      // `prepare` reads it
  std::set<size_t> blocks;
};

bool read_directly(const Code& code, ValueId param) {
  for (const auto* ops : {&code.forward, &code.backward})
    for (const Op& op : *ops)
      if (reads(op, param)) return true;
  return false;
}

bool packs(const Code& code, ValueId param) {
  return std::any_of(code.prepare.begin(), code.prepare.end(),
                     [&](const Op& op) { return reads(op, param); });
}

// What a block's code does with a parameter.
struct Known {
  bool direct = false, packed = false, tp_addends = false;
};

Domain domain_of(ParamRole role) {
  if (role == ParamRole::router_state) return Domain::whole;
  return is_expert(role) ? Domain::expert : Domain::dense;
}

// "layers.3/experts"
std::string group_name(const std::string& block, Domain domain) {
  constexpr const char* kSuffixes[] = {"", "/experts", "/router_state"};
  return block + kSuffixes[static_cast<size_t>(domain)];
}

bool gives_tp_addends(const Code& code, ValueId param) {
  const std::string name = code.value(param).name + ".grad";
  for (const ValueId grad : values_with(code.values, ValueRole::param_grad))
    if (code.value(grad).name == name)
      return code.value(grad).placements.axes[static_cast<size_t>(BlockAxis::tp)] == kPartial;
  return false;
}

std::vector<Use> uses_of(const Program& program, const std::vector<Chain>& chains, DType compute) {
  std::vector<Use> uses(program.params.size());
  std::map<std::pair<CodeId, ValueId>, Known> known;
  for (const Chain& chain : chains)
    for (size_t b = 0; b < chain.size(); ++b) {
      const ChainBlock& block = chain[b];
      const Code& code = program.code(block.code);
      const std::vector<ValueId> slots = values_with(code.values, ValueRole::param);
      for (size_t i = 0; i < slots.size(); ++i) {
        const Param& param = program.params[static_cast<size_t>(block.params[i].index)];
        Use& use = uses[static_cast<size_t>(block.params[i].index)];
        use.domain = domain_of(param.role);
        const std::string own = group_name(block.name, use.domain);
        const bool shared = !use.group.empty() && use.group != own;
        use.blocks.insert(b);
        use.group = shared ? param.name : own;
        const auto [it, fresh] = known.try_emplace({block.code, slots[i]});
        if (fresh)
          it->second = {read_directly(code, slots[i]), packs(code, slots[i]),
                        gives_tp_addends(code, slots[i])};
        use.direct = use.direct || it->second.direct;
        use.packed = use.packed || it->second.packed;
        use.tp_addends = use.tp_addends || it->second.tp_addends;
        use.in_copy = use.in_copy || (it->second.direct && code.value(slots[i]).type.dtype == compute);
      }
    }
  return uses;
}

void extend(std::vector<FlatRange>& ranges, int64_t begin, int64_t end, bool decay) {
  if (!ranges.empty() && ranges.back().decay == decay && ranges.back().end == begin)
    ranges.back().end = end;
  else
    ranges.push_back({begin, end, decay});
}

// On one rank of the pipeline, or on several where these use it or have copies of a stage.
void count_copies(ParamGroup& group, const std::vector<size_t>& uses, const StageMap& map) {
  std::set<int32_t> ranks;
  for (const size_t block : uses)
    for (int32_t direction = 0; direction < map.placement.directions(); ++direction)
      ranks.insert(rank_of_block(map, block, direction));
  group.copies = static_cast<int32_t>(ranks.size());
  if (ranks.contains(map.rank))
    group.copy = static_cast<int32_t>(std::distance(ranks.begin(), ranks.find(map.rank)));
}

// Where its parameters lie in the flat buffers, and which stages use it.
GroupPlan plan_group(Program& program, ParamGroup& group, const std::vector<size_t>& members,
                     const std::vector<Use>& uses, const StageMap& map) {
  GroupPlan plan;
  plan.domain = uses[members.front()].domain;
  std::set<size_t> blocks;
  for (const size_t i : members) {
    Param& param = program.params[i];
    param.group = GroupId(static_cast<int64_t>(program.groups.size()));
    param.offset = group.elements;
    group.elements += (count(param.cut.shape) + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
    if (uses[i].direct) plan.resident_elements = group.elements;
    extend(plan.decay_ranges, param.offset, group.elements, param.decay);
    if (uses[i].tp_addends) extend(plan.tp_addends, param.offset, group.elements, false);
    const bool first_of_tp = program.mesh.tp_index(program.rank) == 0;
    if (param.role != ParamRole::router_state && (first_of_tp || is_cut_on_tp(param.role, program.mesh)))
      extend(plan.normed, param.offset, group.elements, false);
    blocks.insert(uses[i].blocks.begin(), uses[i].blocks.end());
  }
  const auto any = [&](bool Use::*is) {
    return std::any_of(members.begin(), members.end(), [&](size_t i) { return uses[i].*is; });
  };
  if (!any(&Use::in_copy)) plan.resident_elements = 0;
  plan.copied = any(&Use::in_copy) || any(&Use::packed);
  plan.used_elements = group.elements;
  plan.uses.assign(blocks.begin(), blocks.end());
  plan.held = std::any_of(blocks.begin(), blocks.end(), [&](size_t b) { return holds(map, b); });
  count_copies(group, plan.uses, map);
  plan.counted = rank_of_block(map, plan.uses.front(), 0) == map.rank;
  return plan;
}

// This rank's slice and its lasting buffers.
void cut(Program& program, ParamGroup& group, const Shards& shards, Moments moments) {
  group.shard_elements = group.elements / shards.count;
  group.shard_begin = shards.index * group.shard_elements;
  const int64_t bytes = group.shard_elements * size_of(DType::f32);
  group.master = add_buffer(program, group.name + "/master", BufferClass::master, bytes);
  if (moments == Moments::none) return;
  group.moment1 = add_buffer(program, group.name + "/moment1", BufferClass::moment, bytes);
  if (moments == Moments::one) return;
  group.moment2 = add_buffer(program, group.name + "/moment2", BufferClass::moment, bytes);
}

}  // namespace

std::vector<GroupPlan> add_groups(Program& program, const std::vector<Chain>& chains,
                                  const Sharding& sharding, const StageMap& map, DType compute,
                                  Moments moments) {
  const std::vector<Use> uses = uses_of(program, chains, compute);
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
    GroupPlan plan = plan_group(program, group, list, uses, map);
    const Shards& shards = sharding.of(plan.domain);
    const int64_t unit = kParamAlignment * shards.count;
    group.elements = (group.elements + unit - 1) / unit * unit;
    if (plan.held) cut(program, group, shards, moments);
    program.groups.push_back(std::move(group));
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace trireme
