// The ten best, the way up to the first of them, and what lies around it.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/assumptions.h"
#include "plan/calculators/worked.h"
#include "plan/changes.h"
#include "plan/quantities.h"
#include "plan/reasons.h"
#include "plan/report.h"

namespace trireme {
namespace {

constexpr size_t kShown = 10;

// One that was shown differs in how far state is cut alone, and is as fast.
bool is_cut_further(const std::vector<const Outcome*>& shown, const Outcome& outcome) {
  return std::any_of(shown.begin(), shown.end(), [&](const Outcome* other) {
    const std::vector<KeyChange> changes = changed_keys(other->layout, outcome.layout);
    return std::ranges::all_of(changes, [](const KeyChange& change) {
      return change.key == "parallel.zero" || change.key == "parallel.reduce_each_micro_batch";
    });
  });
}

std::string best_text(const SearchResult& result) {
  std::string text = fmt::format("\n  {:>2} {:>12} {:>7} {:>10}  {:<7} {}\n", "", "tokens/s", "MFU", "memory",
                                 "exposed", "layout");
  std::vector<const Outcome*> shown;
  for (const Outcome& outcome : result.tried) {
    if (!outcome.fits() || shown.size() == kShown) break;
    if (is_cut_further(shown, outcome)) continue;
    shown.push_back(&outcome);
    text += fmt::format("  {:>2} {:>12} {:>7} {:>10}  {:>7} {}\n", shown.size(),
                        grouped(static_cast<int64_t>(outcome.tokens_per_s)), as_percent(outcome.mfu),
                        bytes_text(outcome.fullest.total_bytes()),
                        as_percent(1 - outcome.part_share(TimePart::compute)), text_of(outcome.layout));
  }
  return text;
}

std::string reasons_text(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons)
    text += fmt::format("  {} {}{}\n       {}\n", reason.taken ? "->" : "  ", reason.step,
                        reason.layout.empty() ? "" : fmt::format(": {}", reason.layout), reason.why);
  return text;
}

}  // namespace

std::string search_text(const SearchResult& result, const RunSpec& base, const Cluster& cluster) {
  std::string text =
      fmt::format("{} on {} of {} ({}): {} of {} tokens a step\n", base.run.name,
                  counted(cluster.nodes, "node"), cluster.hardware->name, cluster.hardware->device,
                  counted(base.batch.sequences, "sequence"), base.data.seq_len);
  text += assumptions_text(*cluster.hardware);
  text += fmt::format("{} layouts guessed: {} do not divide, {} are too large; {} compiled and simulated\n",
                      grouped(static_cast<int64_t>(result.guessed)),
                      grouped(static_cast<int64_t>(result.refused)),
                      grouped(static_cast<int64_t>(result.too_large)), result.tried.size());
  if (result.winner() == nullptr) {
    text += "\nnothing fits";
    if (!result.tried.empty())
      text += fmt::format("; the nearest, {}: {}", text_of(result.tried[0].layout),
                          shortage_text(result.tried[0]));
    text += "; take more nodes or ranks, or devices with more memory";
    if (base.checkpoint.async) text += ", or leave out the staging copy: checkpoint.async = false";
    return text + "\n";
  }
  text += fmt::format("a rank has {} for all; the first is the simplest within 1 % of the fastest\n",
                      bytes_text(cluster.share.memory_bytes + cluster.hardware->overhead_bytes));
  text += best_text(result);
  text += "\nfrom the simplest up, the best of each kind (-> where it was worth the step)\n";
  text += reasons_text(steps_up(result, cluster.hardware->devices_per_node));
  const std::vector<Reason> around = losers(result);
  if (!around.empty()) text += "\none change from the first, and what it does\n" + reasons_text(around);
  return text;
}

}  // namespace trireme
