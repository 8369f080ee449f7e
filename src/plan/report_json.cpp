// The same numbers as report.cpp's, unrounded.
#include "plan/report_json.h"

#include <nlohmann/json.hpp>

#include "plan/changes.h"
#include "plan/json_parts.h"
#include "plan/reasons.h"

namespace trireme {
namespace {

using Json = nlohmann::ordered_json;

Json memory_of(const RankMemory& memory) {
  Json parts;
  for (int i = 0; i < kMemoryParts; ++i)
    parts[std::string(name_of(static_cast<MemoryPart>(i)))] = memory.bytes[static_cast<size_t>(i)];
  return {
      {"rank", memory.rank},
      {"pipeline_rank", memory.stage_rank},
      {"parts_bytes", std::move(parts)},
      {"arena_bytes", memory.arena_bytes},
      {"total_bytes", memory.total_bytes()},
      {"peak",
       {{"timeline", memory.peak.timeline}, {"action", memory.peak.action.index}, {"what", memory.when}}}};
}

Json layout_json(const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  Json json = {{"text", text_of(layout)},
               {"dp_replicate", p.dp_replicate},
               {"dp_shard", p.dp_shard},
               {"zero", p.zero},
               {"reduce_each_micro_batch", sums_each_micro_batch(layout)},
               {"tp", p.tp},
               {"sequence", p.tp > 1 && p.sequence},
               {"cp", p.cp},
               {"ep", p.ep},
               {"pp", p.pp}};
  if (p.pp > 1) {
    json["schedule"] = p.schedule_file ? *p.schedule_file : std::string(name_of_value(p.schedule));
    json["virtual_stages"] = p.virtual_stages.value_or(1);
  }
  json["micro"] = layout.micro;
  json["recompute"] = std::string(name_of_value(p.recompute));
  return json;
}

// What makes a config one of the layout: keys with their new values, and keys that it must not have. Defaults
// of the data-parallel keys follow each other and --ranks, so these are always there.
void add_settings(Json& json, const RunSpec& base, const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  Json set = {{"parallel.dp_replicate", p.dp_replicate},
              {"parallel.dp_shard", p.dp_shard},
              {"parallel.zero", p.zero}};
  Json remove = Json::array();
  for (const Difference& d : diff(base, with_layout(base, layout)))
    if (d.after.empty())
      remove.push_back(d.key);
    else
      set[d.key] = Json::parse(d.after);
  json["set"] = std::move(set);
  json["remove"] = std::move(remove);
}

Json outcome_json(const Outcome& outcome) {
  return {{"layout", layout_json(outcome.layout)},
          {"fits", outcome.fits()},
          {"missing_bytes", outcome.missing_bytes},
          {"devices", outcome.devices},
          {"memory", memory_of(outcome.fullest)},
          {"step_s", outcome.step_s},
          {"parts_s", times_json(outcome.parts)},
          {"tokens_per_s", outcome.tokens_per_s},
          {"mfu", outcome.mfu},
          {"hfu", outcome.hfu}};
}

Json cost_json(const Answer& cost) {
  Json json = {{"results", Json::array()}, {"notes", cost.notes}};
  for (const AnswerSection& section : cost.sections)
    for (const Worked& result : section.results)
      json["results"].push_back(
          {{"offer", section.title}, {"key", result.key}, {"value", result.value}, {"unit", result.unit}});
  return json;
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json list = Json::array();
  for (const Reason& reason : reasons)
    list.push_back(
        {{"step", reason.step}, {"layout", reason.layout}, {"why", reason.why}, {"taken", reason.taken}});
  return list;
}

}  // namespace

std::string plan_json(const Plan& plan, const std::vector<Fix>& fixes, const std::optional<Answer>& cost) {
  Json json = {{"run", plan.spec.run.name},
               {"cluster", cluster_json(plan.cluster)},
               {"ranks", all_ranks(plan.spec)},
               {"layout", layout_json(layout_of(plan.spec))},
               {"parameters", plan.parameters},
               {"fits", plan.fits()},
               {"missing_bytes", plan.missing_bytes()}};
  for (const RankMemory& memory : plan.memory) json["memory"].push_back(memory_of(memory));
  json["step_s"] = plan.step_s();
  json["busiest_rank"] = plan.step.busiest().rank;
  json["parts_s"] = times_json(plan.step.busiest().parts);
  json["tokens_per_step"] = tokens_per_step(plan.spec);
  json["tokens_per_s"] = plan.tokens_per_s();
  json["model_flops_per_step"] = plan.model_flops;
  json["executed_flops_per_step"] = plan.executed_flops;
  json["peak_flops_per_s"] = plan.peak_flops_per_s;
  json["mfu"] = plan.mfu();
  json["hfu"] = plan.hfu();
  json["run_tokens"] = plan.run_tokens();
  json["hours"] = plan.run_hours();
  json["device_hours"] = plan.device_hours();
  if (cost) json["cost"] = cost_json(*cost);
  if (!plan.fits()) json["changes_that_fit"] = Json::array();
  const Layout start = layout_of(plan.spec);
  for (const Fix& fix : fixes) {
    Json& change =
        json["changes_that_fit"].emplace_back(Json{{"change", change_text(start, fix.outcome.layout)}});
    add_settings(change, plan.spec, fix.outcome.layout);
    change["speed"] = fix.speed;
    change["outcome"] = outcome_json(fix.outcome);
  }
  return json.dump(2) + "\n";
}

std::string search_json(const SearchResult& result, const Cluster& cluster) {
  Json json = {{"cluster", cluster_json(cluster)},   {"guessed", result.guessed},
               {"refused", result.refused},          {"too_large", result.too_large},
               {"fits", result.winner() != nullptr}, {"tried", Json::array()}};
  for (const Outcome& outcome : result.tried) json["tried"].push_back(outcome_json(outcome));
  json["steps_up"] = reasons_json(steps_up(result, cluster.hardware->devices_per_node));
  json["around"] = reasons_json(losers(result));
  return json.dump(2) + "\n";
}

}  // namespace trireme
