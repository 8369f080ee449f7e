// Actions of a rank's compute stream are joined into stretches; then each column takes the stretch that has
// most of its time.
#include "sim/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace trireme {
namespace {

// How a work is drawn: its letter, what the rest of its cells is filled with, its ANSI color.
struct Look {
  char letter = '.', fill = '.';
  int color = 0;
  std::string_view meaning;
};
constexpr std::array<Look, kWorks> kLooks = {{{'F', '-', 34, "forward"},
                                              {'B', '=', 32, "backward"},
                                              {'I', '=', 36, "backward's input part"},
                                              {'W', '~', 35, "its weight part"},
                                              {'U', '#', 33, "norm and update"},
                                              {'+', '+', 37, "other"},
                                              {':', ':', 31, "communication alone"},
                                              {'.', '.', 90, "waits for another rank"}}};
constexpr double kLeastCells = 2;  // of a usual forward, or the step is drawn in bands,
constexpr double kCells = 4;       // in which it has these

const Look& look_of(Work work) { return kLooks[static_cast<size_t>(work)]; }

Work work_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return Work::forward;
    case ActionKind::backward:
      return Work::backward;
    case ActionKind::backward_input:
      return Work::input;
    case ActionKind::backward_weight:
      return Work::weight;
    default:
      return is_update(kind) ? Work::update : Work::other;
  }
}

bool goes_back(Work work) { return work == Work::backward || work == Work::input || work == Work::weight; }

// Spans without the moments at which they touch.
struct Interval {
  double start_s = 0, end_s = 0;
};

std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start_s);
  std::vector<Interval> whole;
  for (const Interval& next : intervals)
    if (!whole.empty() && next.start_s <= whole.back().end_s)
      whole.back().end_s = std::max(whole.back().end_s, next.end_s);
    else
      whole.push_back(next);
  return whole;
}

class Stretches {
 public:
  explicit Stretches(std::vector<Interval> talk) : talk_(std::move(talk)) {}

  void compute(Work work, int32_t micro_batch, const SimSpan& span) {
    if (span.end_s <= span.start_s) return;
    wait_until(span.start_s);
    if (!all_.empty() && joins(all_.back(), work, micro_batch)) {
      // Parts of several layers that follow each other are a whole backward.
      if (all_.back().work != work) all_.back().work = Work::backward;
      all_.back().end_s = span.end_s;
      return;
    }
    all_.push_back({work, micro_batch, span.start_s, span.end_s});
  }

  std::vector<Stretch> finish(double step_s) {
    wait_until(step_s);
    return std::move(all_);
  }

 private:
  static bool joins(const Stretch& last, Work work, int32_t micro_batch) {
    if (last.micro_batch != micro_batch) return false;
    return last.work == work || (goes_back(last.work) && goes_back(work));
  }

  double now_s() const { return all_.empty() ? 0 : all_.back().end_s; }

  void add_wait(Work work, double end_s) {
    if (end_s <= now_s()) return;
    if (!all_.empty() && all_.back().work == work)
      all_.back().end_s = end_s;
    else
      all_.push_back({work, -1, now_s(), end_s});
  }

  // In talk where the rank is in some, else idle.
  void wait_until(double end_s) {
    while (next_talk_ < talk_.size() && now_s() < end_s) {
      const Interval& talk = talk_[next_talk_];
      add_wait(Work::idle, std::min(talk.start_s, end_s));
      add_wait(Work::comm, std::min(talk.end_s, end_s));
      if (talk.end_s > end_s) return;
      ++next_talk_;
    }
    add_wait(Work::idle, end_s);
  }

  std::vector<Interval> talk_;
  size_t next_talk_ = 0;
  std::vector<Stretch> all_;
};

// The stretch that has most of [start_s, end_s); `at` is the first that may, and moves on.
size_t most_of(const std::vector<Stretch>& stretches, double start_s, double end_s, size_t& at) {
  while (at + 1 < stretches.size() && stretches[at].end_s <= start_s) ++at;
  size_t best = at;
  double most_s = -1;
  for (size_t i = at; i < stretches.size() && stretches[i].start_s < end_s; ++i) {
    const double here_s = std::min(stretches[i].end_s, end_s) - std::max(stretches[i].start_s, start_s);
    if (here_s > most_s) {
      most_s = here_s;
      best = i;
    }
  }
  return best;
}

std::string run_text(const Stretch& stretch, size_t cells, Paint paint) {
  const Look& look = look_of(stretch.work);
  std::string text(1, look.letter);
  if (stretch.micro_batch >= 0 && stretch.work < Work::update) text += fmt::format("{}", stretch.micro_batch);
  if (text.size() > cells) text.resize(1);
  text.resize(cells, look.fill);
  return paint == Paint::plain ? text : fmt::format("\x1b[{}m{}\x1b[0m", look.color, text);
}

bool looks_alike(const Stretch& a, const Stretch& b) {
  return a.work == b.work && a.micro_batch == b.micro_batch;
}

struct Window {
  double start_s = 0, end_s = 0;
};

std::string row_text(const std::vector<Stretch>& stretches, const Window& window, size_t columns,
                     Paint paint) {
  if (stretches.empty()) return "";
  std::string text;
  size_t at = 0, run = 0, shown = stretches.size();
  const double width_s = (window.end_s - window.start_s) / static_cast<double>(columns);
  for (size_t column = 0; column < columns; ++column) {
    const double start_s = window.start_s + static_cast<double>(column) * width_s;
    const size_t most = most_of(stretches, start_s, start_s + width_s, at);
    if (run > 0 && !looks_alike(stretches[shown], stretches[most]))
      text += run_text(stretches[shown], std::exchange(run, 0), paint);
    shown = most;
    ++run;
  }
  return text + run_text(stretches[shown], run, paint);
}

// The whole step where a usual forward has room for its number, else as much of its beginning and its end.
std::vector<Window> windows_of(const std::vector<std::vector<Stretch>>& rows, double step_s, size_t columns) {
  std::vector<double> forwards_s;
  for (const auto& stretches : rows)
    for (const Stretch& stretch : stretches)
      if (stretch.work == Work::forward) forwards_s.push_back(stretch.end_s - stretch.start_s);
  if (forwards_s.empty()) return {{0, step_s}};
  std::ranges::nth_element(forwards_s,
                           forwards_s.begin() + static_cast<std::ptrdiff_t>(forwards_s.size() / 2));
  const double usual_s = forwards_s[forwards_s.size() / 2];
  const auto window_s = [&](double cells) { return usual_s * static_cast<double>(columns) / cells; };
  if (step_s <= window_s(kLeastCells)) return {{0, step_s}};
  const double part_s = std::min(window_s(kCells), step_s / 2);
  return {{0, part_s}, {step_s - part_s, step_s}};
}

std::string legend(const std::vector<bool>& drawn, Paint paint) {
  std::string text;
  for (int w = 0; w < kWorks; ++w) {
    if (!drawn[static_cast<size_t>(w)]) continue;
    const Stretch sample{static_cast<Work>(w)};
    text += fmt::format("{}{} {}", text.empty() ? "" : "  ", run_text(sample, 2, paint),
                        look_of(sample.work).meaning);
  }
  return text;
}

}  // namespace

std::vector<Stretch> stretches_of(const SimulationInput& input, const StepSimulation& step,
                                  const SimRank& rank) {
  const Timeline& timeline = timeline_of(input, rank.program);
  std::vector<Interval> talk;
  for (const SimSpan& span : rank.spans)
    if (timeline.actions[span.action].stream != Stream::compute && span.end_s > span.moves_s)
      talk.push_back({span.moves_s, span.end_s});
  Stretches stretches(joined(std::move(talk)));
  for (const SimSpan& span : rank.spans) {
    const Action& action = timeline.actions[span.action];
    if (action.stream == Stream::compute) stretches.compute(work_of(action.kind), action.micro_batch, span);
  }
  return stretches.finish(step.step_s);
}

std::string draw(const SimulationInput& input, const StepSimulation& step, const DrawOptions& options) {
  CHECK(options.columns >= kLeastColumns, "{} columns", options.columns);
  size_t margin = 0;
  for (const SimRank& rank : step.ranks)
    margin = std::max(margin, fmt::formatted_size("rank {} ", rank.rank));
  const size_t columns = options.columns - margin;
  std::vector<bool> drawn(kWorks);
  std::vector<std::vector<Stretch>> rows;
  for (const SimRank& rank : step.ranks) {
    rows.push_back(stretches_of(input, step, rank));
    for (const Stretch& stretch : rows.back()) drawn[static_cast<size_t>(stretch.work)] = true;
  }
  std::string text;
  const std::vector<Window> windows = windows_of(rows, step.step_s, columns);
  for (const Window& window : windows) {
    if (windows.size() > 1)
      text += fmt::format("from {:.4g} to {:.4g} s of {:.4g}:\n", window.start_s, window.end_s, step.step_s);
    for (size_t r = 0; r < rows.size(); ++r)
      text += fmt::format("{:<{}}{}\n", fmt::format("rank {}", step.ranks[r].rank), margin,
                          row_text(rows[r], window, columns, options.paint));
  }
  return text + legend(drawn, options.paint) + "\n";
}

}  // namespace trireme
