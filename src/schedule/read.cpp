// Text and CSV to a checked schedule. A file of n steps takes memory in proportion to n, whatever numbers it
// holds.
#include "schedule/read.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "schedule/check.h"

namespace trireme {

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (size_t from = 0;;) {
    const size_t to = text.find_first_of(separators, from);
    parts.push_back(trim(text.substr(from, to - from)));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

struct Source {
  std::string_view name;
  size_t line = 0, cell = 0;  // from 1
};

// A cell as a message quotes it: hostile files may hold megabytes in one.
std::string quoted(std::string_view cell) {
  std::string text;
  for (const char c : cell.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
  return '"' + text + (cell.size() > 40 ? "...\"" : "\"");
}

[[noreturn]] void refuse_cell(const Source& at, std::string_view cell, std::string_view why) {
  fail_user("{} line {} cell {}: {} {}", at.name, at.line, at.cell, quoted(cell), why);
}

ScheduleStep read_step(std::string_view cell, const Source& at) {
  constexpr std::string_view kNoStep =
      "is no step; write stage, kind and micro-batch as in 0F3, the kind being F, B, I or W";
  const char* const end = cell.data() + cell.size();
  const auto number = [&](const char* from, int32_t& value) {
    if (from == end || *from < '0' || *from > '9') refuse_cell(at, cell, kNoStep);
    const auto [rest, error] = std::from_chars(from, end, value);
    if (error != std::errc{}) refuse_cell(at, cell, "has a number that is too large");
    return rest;
  };
  ScheduleStep step;
  const char* letter = number(cell.data(), step.stage);
  constexpr std::string_view kLetters = "FBIW";
  const size_t kind = letter == end ? std::string_view::npos : kLetters.find(*letter);
  if (kind == std::string_view::npos) {
    const bool word = letter != end && (std::string_view("SRU").find(*letter) != std::string_view::npos);
    refuse_cell(at, cell,
                word ? "is communication, which Trireme adds itself; give the compute steps only" : kNoStep);
  }
  step.kind = static_cast<StepKind>(kind);
  if (number(letter + 1, step.micro_batch) != end) refuse_cell(at, cell, kNoStep);
  return step;
}

// A cell with one step, or with two that run at once.
void read_cell(std::string_view cell, const Source& at, std::vector<ScheduleStep>& row) {
  std::string_view inner = cell;
  std::string_view joint = "+";
  if (cell.starts_with('(')) {
    constexpr std::string_view kEnd = ")OVERLAP_F_B";
    if (!cell.ends_with(kEnd)) refuse_cell(at, cell, "is no pair; write (0F1;1B0)OVERLAP_F_B or 0F1+1B0");
    inner = cell.substr(1, cell.size() - 1 - kEnd.size());
    joint = ";";
  }
  const auto parts = split(inner, joint);
  if (parts.size() > 2) refuse_cell(at, cell, "has more than two steps at once");
  for (const std::string_view part : parts) row.push_back(read_step(part, at));
  if (parts.size() == 2) row[row.size() - 2].with_next = true;
}

ScheduleTable read_table(std::string_view text, std::string_view name) {
  const bool csv = text.find(',') != std::string_view::npos;
  ScheduleTable table;
  Source at{name};
  for (std::string_view line : split(text, "\n")) {
    ++at.line;
    at.cell = 0;
    if (!csv) line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    table.emplace_back();
    for (const std::string_view cell : split(line, csv ? "," : " \t")) {
      at.cell += csv || !cell.empty() ? 1 : 0;
      if (!cell.empty()) read_cell(cell, at, table.back());
    }
    if (table.back().empty()) fail_user("{} line {}: rank {} has no step", name, at.line, table.size() - 1);
  }
  if (table.empty()) fail_user("{} has no step; write a line of steps such as 0F0 0B0 for each rank", name);
  return table;
}

// Numbers that a table uses are 0, 1, ... without a gap; returns how many.
int32_t count_from_zero(const ScheduleTable& table, int32_t ScheduleStep::*number, std::string_view what,
                        std::string_view name) {
  std::set<int32_t> seen;
  for (const auto& row : table)
    for (const ScheduleStep& step : row) seen.insert(step.*number);
  int32_t count = 0;
  for (const int32_t value : seen) {
    if (value != count) fail_user("{}: {} {} is there but no {} {}", name, what, *seen.rbegin(), what, count);
    ++count;
  }
  return count;
}

// Puts every stage on the rank whose row has it. Returns the first step that contradicts an earlier one, or
// "".
std::string place(Schedule& schedule, int32_t stages, int32_t directions) {
  schedule.placement.rank_of_stage.assign(static_cast<size_t>(directions),
                                          std::vector<int32_t>(static_cast<size_t>(stages), -1));
  for (size_t rank = 0; rank < schedule.table.size(); ++rank)
    for (const ScheduleStep& step : schedule.table[rank]) {
      const auto direction = static_cast<size_t>(direction_of(schedule, step.micro_batch));
      int32_t& held = schedule.placement.rank_of_stage[direction][static_cast<size_t>(step.stage)];
      if (held >= 0 && held != static_cast<int32_t>(rank))
        return fmt::format("{} is on rank {} but stage {} is on rank {}", to_text(step), rank, step.stage,
                           held);
      held = static_cast<int32_t>(rank);
    }
  return "";
}

}  // namespace

Schedule read_schedule(std::string_view text, std::string_view name) {
  Schedule schedule;
  schedule.table = read_table(text, name);
  schedule.placement.ranks = static_cast<int32_t>(schedule.table.size());
  const int32_t stages = count_from_zero(schedule.table, &ScheduleStep::stage, "stage", name);
  schedule.micro_batches = count_from_zero(schedule.table, &ScheduleStep::micro_batch, "micro-batch", name);
  int64_t forwards = 0;
  for (const auto& row : schedule.table) {
    forwards += std::ranges::count(row, StepKind::forward, &ScheduleStep::kind);
    schedule.split_backward |= std::ranges::any_of(row, [](const ScheduleStep& step) {
      return step.kind == StepKind::backward_input || step.kind == StepKind::backward_weight;
    });
  }
  const int64_t needed = int64_t{stages} * schedule.micro_batches;
  if (forwards < needed)
    fail_user("{}: {} stages and {} micro-batches need {} forwards, there are {}", name, stages,
              schedule.micro_batches, needed, forwards);
  const std::string contradiction = place(schedule, stages, 1);
  const bool two_way = schedule.micro_batches % 2 == 0;
  if (!contradiction.empty() && (!two_way || !place(schedule, stages, 2).empty()))
    fail_user("{}: {}; a stage has one rank", name, contradiction);
  if (const std::string fault = find_fault(schedule, ScheduleUse::training); !fault.empty())
    fail_user("{}: {}", name, fault);
  return schedule;
}

void require_shape(const Schedule& schedule, std::string_view name, const ScheduleInput& run) {
  if (schedule.placement.ranks != run.ranks)
    fail_user("{} has lines for {} ranks but parallel.pp = {}; make them equal", name,
              schedule.placement.ranks, run.ranks);
  const int64_t stages = int64_t{run.ranks} * run.stages_per_rank;
  if (schedule.placement.stages() != stages)
    fail_user("{} has {} stages but parallel.pp = {} x parallel.virtual_stages = {} are {}; make them equal",
              name, schedule.placement.stages(), run.ranks, run.stages_per_rank, stages);
  if (schedule.micro_batches != run.micro_batches)
    fail_user(
        "{} is for {} micro-batches per step but the run has {}; change the file, batch.sequences or "
        "batch.micro",
        name, schedule.micro_batches, run.micro_batches);
}

}  // namespace trireme
