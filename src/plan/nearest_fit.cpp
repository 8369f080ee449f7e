// All single steps are tried, and where none fits that is near the speed of before, all steps from the best
// of those that do not fit.
#include "plan/nearest_fit.h"

#include <algorithm>

#include "plan/changes.h"

namespace trireme {
namespace {

constexpr int64_t kMostTimesMore = 8;  // ranks
constexpr size_t kStarts = 4;          // of a second step
constexpr double kNear = 0.9;          // of the speed of before

}  // namespace

std::vector<Fix> nearest_fits(const Plan& plan, const FixOptions& options) {
  const Layout start = layout_of(plan.spec);
  const int64_t ranks = ranks_of(start);
  const int64_t most_ranks = options.more_devices ? ranks * kMostTimesMore : ranks;
  const int64_t nodes = options.more_devices ? 0 : plan.cluster.nodes;
  const Hardware& hardware = *plan.cluster.hardware;
  const Outcome before = outcome_of(plan);
  std::vector<Fix> fixes;
  const auto attempt = [&](const std::vector<Layout>& layouts) {
    std::vector<Outcome> close;
    for (std::optional<Outcome>& outcome :
         try_layouts(plan.spec, layouts, hardware, nodes, options.threads)) {
      if (!outcome) continue;
      if (!outcome->fits()) {
        close.push_back(std::move(*outcome));
        continue;
      }
      const double speed = outcome->tokens_per_s / static_cast<double>(outcome->devices) /
                           (before.tokens_per_s / static_cast<double>(before.devices));
      fixes.push_back({change_text(start, outcome->layout), std::move(*outcome), speed});
    }
    std::sort(close.begin(), close.end(),
              [](const Outcome& a, const Outcome& b) { return a.missing_bytes < b.missing_bytes; });
    return close;
  };
  const std::vector<Outcome> close = attempt(smaller_layouts(start, most_ranks));
  const bool near = std::ranges::any_of(fixes, [](const Fix& fix) { return fix.speed >= kNear; });
  std::vector<Layout> second;
  for (size_t i = 0; !near && i < std::min(kStarts, close.size()); ++i)
    for (Layout& layout : smaller_layouts(close[i].layout, most_ranks)) second.push_back(std::move(layout));
  attempt(second);
  // Over as many devices first, then the fastest; of equal ones the mildest, which were found first.
  const auto more = [&](const Fix& fix) { return fix.outcome.devices > before.devices; };
  std::stable_sort(fixes.begin(), fixes.end(), [&](const Fix& a, const Fix& b) {
    return more(a) != more(b) ? more(b) : a.speed > b.speed;
  });
  const auto same = [](const Fix& a, const Fix& b) {
    return a.speed == b.speed && a.outcome.devices == b.outcome.devices;
  };
  fixes.erase(std::unique(fixes.begin(), fixes.end(), same), fixes.end());
  if (fixes.size() > options.most) fixes.resize(options.most);
  return fixes;
}

}  // namespace trireme
