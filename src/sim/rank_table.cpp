// Per rank: the parts of its step, a column for each that some rank has, and its activations.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/activations.h"
#include "sim/draw.h"

namespace trireme {
namespace {

constexpr double kLeastShown = 0.0005;  // of a step: what would print as 0.0 %

std::vector<TimePart> parts_shown(const StepSimulation& step) {
  std::vector<TimePart> shown;
  for (int p = 0; p < kTimeParts; ++p) {
    const auto part = static_cast<TimePart>(p);
    if (std::ranges::any_of(
            step.ranks, [&](const SimRank& rank) { return rank.part(part) >= kLeastShown * step.step_s; }))
      shown.push_back(part);
  }
  return shown;
}

}  // namespace

std::string rank_table(const SimulationInput& input, const StepSimulation& step) {
  const std::vector<TimePart> shown = parts_shown(step);
  std::string text = fmt::format("{:>6} {:>8}", "rank", "of ranks");
  for (const TimePart part : shown) text += fmt::format(" {:>10}", name_of(part));
  text += fmt::format(" {:>10} {:>14}\n", "in flight", "activations");
  for (const SimRank& rank : step.ranks) {
    const ActivationPeak peak =
        activation_peak(input.programs[rank.program], timeline_of(input, rank.program));
    text += fmt::format("{:>6} {:>8}", rank.rank, rank.stands_for);
    for (const TimePart part : shown) text += fmt::format(" {:>8.1f} %", 100 * rank.part(part) / step.step_s);
    text += fmt::format(" {:>10} {:>11.2f} GB\n", peak.micro_batches, static_cast<double>(peak.bytes) / 1e9);
  }
  return text;
}

}  // namespace trireme
