// Every schedule, a line each.
#include "schedule/catalog.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "schedule/schedules.h"

namespace trireme {

namespace {

constexpr int32_t kAny = std::numeric_limits<int32_t>::max();

constexpr std::array kSchedules = {
    ScheduleDef{.name = "gpipe", .make = gpipe},
    ScheduleDef{.name = "1f1b", .make = one_forward_one_backward},
    ScheduleDef{
        .name = "interleaved", .make = interleaved, .least_stages_per_rank = 2, .most_stages_per_rank = kAny},
    ScheduleDef{
        .name = "looped_bfs", .make = looped_bfs, .least_stages_per_rank = 2, .most_stages_per_rank = kAny},
    ScheduleDef{.name = "zb_h1", .make = zb_h1},
    ScheduleDef{.name = "interleaved_zb",
                .make = interleaved_zb,
                .least_stages_per_rank = 2,
                .most_stages_per_rank = kAny},
    ScheduleDef{.name = "zbv", .make = zbv, .least_stages_per_rank = 2, .most_stages_per_rank = 2},
    ScheduleDef{.name = "dualpipe",
                .make = dualpipe,
                .ranks_multiple = 2,
                .micro_batches_multiple = 2,
                .least_micro_batches_per_rank = 2},
    ScheduleDef{.name = "dualpipev",
                .make = dualpipev,
                .least_stages_per_rank = 2,
                .most_stages_per_rank = 2,
                .least_micro_batches_per_rank = 2},
};

int32_t round_up(int32_t value, int32_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::optional<ScheduleRefusal> refuse_stages(const ScheduleDef& def, const ScheduleInput& input) {
  ScheduleInput works = input;
  works.stages_per_rank =
      std::clamp(input.stages_per_rank, def.least_stages_per_rank, def.most_stages_per_rank);
  if (works.stages_per_rank == input.stages_per_rank) return {};
  return ScheduleRefusal{
      fmt::format("parallel.virtual_stages = {} does not suit parallel.schedule = \"{}\", which needs {}{}",
                  input.stages_per_rank, def.name, works.stages_per_rank,
                  def.most_stages_per_rank == kAny ? " or more" : ""),
      works};
}

std::optional<ScheduleRefusal> refuse_ranks(const ScheduleDef& def, const ScheduleInput& input) {
  ScheduleInput works = input;
  works.ranks = round_up(input.ranks, def.ranks_multiple);
  if (works.ranks == input.ranks) return {};
  return ScheduleRefusal{
      fmt::format(
          "parallel.pp = {} does not suit parallel.schedule = \"{}\", which needs a multiple of {}; the "
          "least that works is {}",
          input.ranks, def.name, def.ranks_multiple, works.ranks),
      works};
}

std::optional<ScheduleRefusal> refuse_micro_batches(const ScheduleDef& def, const ScheduleInput& input) {
  const int32_t least = std::max(1, def.least_micro_batches_per_rank * input.ranks);
  ScheduleInput works = input;
  works.micro_batches = round_up(std::max(input.micro_batches, least), def.micro_batches_multiple);
  if (works.micro_batches == input.micro_batches) return {};
  const std::string rule = input.micro_batches < least
                               ? fmt::format("at least {} for parallel.pp = {}", least, input.ranks)
                               : fmt::format("a multiple of {}", def.micro_batches_multiple);
  return ScheduleRefusal{fmt::format("parallel.schedule = \"{}\" cannot run {} micro-batches per step: it "
                                     "needs {}; the least that works "
                                     "is {}, so raise batch.sequences or lower batch.micro",
                                     def.name, input.micro_batches, rule, works.micro_batches),
                         works};
}

}  // namespace

std::span<const ScheduleDef> schedules() { return kSchedules; }

const ScheduleDef* find_schedule(std::string_view name) {
  const auto* def = std::ranges::find(kSchedules, name, &ScheduleDef::name);
  return def == kSchedules.end() ? nullptr : def;
}

std::optional<ScheduleRefusal> refuse(const ScheduleDef& def, const ScheduleInput& input) {
  CHECK(input.ranks >= 1 && input.stages_per_rank >= 1 && input.micro_batches >= 1,
        "ranks {} stages {} micro-batches {}", input.ranks, input.stages_per_rank, input.micro_batches);
  if (auto refusal = refuse_stages(def, input)) return refusal;
  if (auto refusal = refuse_ranks(def, input)) return refusal;
  return refuse_micro_batches(def, input);
}

Schedule make_schedule(std::string_view name, const ScheduleInput& input) {
  const ScheduleDef* def = find_schedule(name);
  if (!def) {
    std::vector<std::string> names;
    for (const ScheduleDef& known : kSchedules) names.emplace_back(known.name);
    const std::string near = nearest(std::string(name), names);
    fail_user("parallel.schedule = \"{}\" is not known; {}{}", name,
              near.empty() ? "" : fmt::format("do you mean \"{}\"? ", near),
              fmt::format("there are {}", fmt::join(names, ", ")));
  }
  if (const auto refusal = refuse(*def, input)) fail_user("{}", refusal->why);
  return def->make(input);
}

}  // namespace trireme
