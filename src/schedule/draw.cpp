// Cells of equal width, rank by rank; then the rows are cut into bands.
#include "schedule/draw.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

constexpr size_t kMargin = 10;  // "rank 0    "

// Units of time; a pair takes as long as its two steps apart.
int64_t units_of(StepKind kind) { return kind == StepKind::backward ? 2 : 1; }

bool ranks_have_several_stages(const StagePlacement& placement) {
  return placement.directions() * placement.stages() > placement.ranks;
}

std::string label_of(const Schedule& schedule, const ScheduleStep& step) {
  const std::string text = to_text(step);
  return ranks_have_several_stages(schedule.placement) ? text : text.substr(text.find_first_of("FBIW"));
}

// A column per unit and one between columns.
size_t cell_width(const Schedule& schedule) {
  size_t width = 0;
  for (const auto& row : schedule.table)
    for (const ScheduleStep& step : row) width = std::max(width, label_of(schedule, step).size());
  return width + 1;
}

// The whole row of a rank: `length` cells, without the margin.
std::string row_of(const Schedule& schedule, const std::vector<int64_t>& starts, size_t rank, int64_t length,
                   size_t width) {
  std::string row;
  for (int64_t unit = 0; unit < length; ++unit) row += fmt::format("{:{}}", ".", width);
  const auto& steps = schedule.table[rank];
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t at = static_cast<size_t>(starts[i]) * width;
    std::string label = label_of(schedule, steps[i]);
    int64_t units = units_of(steps[i].kind);
    if (steps[i].with_next) {
      units += units_of(steps[i + 1].kind);
      label += "+" + label_of(schedule, steps[++i]);
    }
    const size_t room = static_cast<size_t>(units) * width - 1;
    row.replace(at, room,
                units == 1 ? fmt::format("{:<{}}", label, room) : fmt::format("{:-<{}}", label, room));
  }
  return row;
}

// The time above every fifth cell of a band.
std::string ruler(int64_t first, int64_t end, size_t width) {
  std::string line = fmt::format("{:{}}", "time", kMargin);
  for (int64_t unit = first; unit < end; unit += 5)
    line += fmt::format("{:<{}}", unit, static_cast<size_t>(std::min<int64_t>(5, end - unit)) * width);
  return line;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

}  // namespace

std::string draw(const Schedule& schedule, const DrawLimits& limits) {
  const Simulation times = simulate(schedule, {});
  CHECK(times.deadlock.empty(), "{}", times.deadlock);
  const size_t width = cell_width(schedule), ranks = schedule.table.size();
  // Whole fives, so that every band begins at a number of the ruler.
  const auto fits = static_cast<int64_t>((limits.columns - kMargin) / width / 5 * 5);
  const int64_t per_band = std::max<int64_t>(5, fits);
  const int64_t shown = std::min(times.length, per_band * static_cast<int64_t>(limits.bands));
  std::vector<std::string> rows;
  for (size_t rank = 0; rank < ranks; ++rank)
    rows.push_back(row_of(schedule, times.starts[rank], rank, times.length, width));
  std::string text;
  for (int64_t first = 0; first < shown; first += per_band) {
    const int64_t end = std::min(first + per_band, shown);
    if (first > 0) text += '\n';
    add_line(text, ruler(first, end, width));
    for (size_t rank = 0; rank < ranks; ++rank)
      add_line(text, fmt::format("{:{}}", fmt::format("rank {}", rank), kMargin) +
                         rows[rank].substr(static_cast<size_t>(first) * width,
                                           static_cast<size_t>(end - first) * width));
  }
  if (shown < times.length) text += fmt::format("... cut at {} of {} units\n", shown, times.length);
  std::vector<int64_t> waits;
  std::vector<int32_t> stored;
  for (size_t rank = 0; rank < ranks; ++rank) {
    waits.push_back(times.bubble(static_cast<int32_t>(rank)));
    stored.push_back(times.ranks[rank].most_stored);
  }
  return text + fmt::format("{} units; by rank, waits: {}; stores at most: {}\n", times.length,
                            fmt::join(waits, " "), fmt::join(stored, " "));
}

}  // namespace trireme
