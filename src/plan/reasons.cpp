// What changed between two steps is told by the part that gains most and the one that loses most.
#include "plan/reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/calculators/worked.h"
#include "plan/changes.h"
#include "plan/quantities.h"

namespace trireme {
namespace {

constexpr double kNoticed = 0.005;  // of a step

std::string part_name(TimePart part) {
  return (is_communication(part) ? "exposed " : "") + std::string(name_of(part));
}

// "exposed dp 0.4 s -> 0.1 s". "" where nothing moves that one would notice.
std::string moved(const Outcome& before, const Outcome& after, bool down) {
  int best = -1;
  double most = kNoticed * before.step_s;
  for (int i = 0; i < kTimeParts; ++i) {
    const auto part = static_cast<TimePart>(i);
    const double change = (after.part(part) - before.part(part)) * (down ? -1 : 1);
    if (change > most) most = change, best = i;
  }
  if (best < 0) return "";
  const auto part = static_cast<TimePart>(best);
  return fmt::format("{} {} -> {}", part_name(part), seconds_text(before.part(part)),
                     seconds_text(after.part(part)));
}

std::string comparison(const Outcome& before, const Outcome& after) {
  const bool faster = after.step_s < before.step_s;
  const std::string main = moved(before, after, faster), other = moved(before, after, !faster);
  std::string text = fmt::format("{} tokens/s", change_percent(before.step_s / after.step_s));
  if (!main.empty()) text += ": " + main;
  if (!other.empty()) text += fmt::format("; {} {}", faster ? "it costs" : "it saves", other);
  return text;
}

}  // namespace

std::string shortage_text(const Outcome& outcome) {
  const RankMemory& memory = outcome.fullest;
  std::vector<std::pair<int64_t, MemoryPart>> parts;
  for (int i = 0; i < kMemoryParts; ++i)
    parts.push_back({memory.bytes[static_cast<size_t>(i)], static_cast<MemoryPart>(i)});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> largest;
  for (size_t i = 0; i < 3 && parts[i].first > 0; ++i)
    largest.push_back(fmt::format("{} {}", name_of(parts[i].second), bytes_text(parts[i].first)));
  return fmt::format("does not fit: {} too many on pipeline rank {}; the largest: {}",
                     bytes_text(outcome.missing_bytes), memory.stage_rank, fmt::join(largest, ", "));
}

std::vector<Reason> steps_up(const SearchResult& result, int64_t devices_per_node) {
  std::vector<Reason> steps;
  const Outcome* best = nullptr;
  const Outcome* winner = result.winner();
  for (int r = 0; r < kRungs; ++r) {
    const std::optional<Outcome>& found = result.rungs[static_cast<size_t>(r)];
    if (!found) continue;
    // The winner stands for its rung, although another there may be faster by a hair.
    const bool wins = winner != nullptr && rung_of(winner->layout, devices_per_node) == static_cast<Rung>(r);
    const Outcome& outcome = wins ? *winner : *found;
    Reason reason{
        .step = std::string(name_of(static_cast<Rung>(r))), .layout = text_of(outcome.layout), .why = ""};
    if (!outcome.fits()) {
      reason.why = shortage_text(outcome);
    } else if (best == nullptr) {
      reason.why = fmt::format("the simplest that fits: {} tokens/s, MFU {}",
                               grouped(static_cast<int64_t>(outcome.tokens_per_s)), as_percent(outcome.mfu));
      reason.taken = true;
    } else {
      reason.why = comparison(*best, outcome);
      reason.taken = wins || outcome.step_s < best->step_s;
    }
    if (reason.taken) best = &outcome;
    steps.push_back(std::move(reason));
  }
  return steps;
}

std::vector<Reason> losers(const SearchResult& result) {
  std::vector<Reason> reasons;
  const Outcome* winner = result.winner();
  if (winner == nullptr) return reasons;
  std::vector<const Outcome*> order;
  for (const Outcome& outcome : result.around) order.push_back(&outcome);
  std::stable_sort(order.begin(), order.end(), [](const Outcome* a, const Outcome* b) {
    return a->fits() != b->fits() ? !a->fits() : a->step_s > b->step_s;
  });
  for (const Outcome* outcome : order) {
    const std::string change = change_text(winner->layout, outcome->layout);
    if (change.empty()) continue;
    reasons.push_back({.step = change,
                       .layout = "",
                       .why = outcome->fits() ? comparison(*winner, *outcome) : shortage_text(*outcome)});
  }
  return reasons;
}

}  // namespace trireme
