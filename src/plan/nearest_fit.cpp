// All single steps are guessed and the best of them tried, and where none fits that is near the speed of
// before, all steps from the nearest of those that do not fit.
#include "plan/nearest_fit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "base/error.h"
#include "plan/changes.h"
#include "plan/estimate.h"

namespace trireme {
namespace {

constexpr int64_t kTimesMore = 8, kMostTimesMore = 512;  // ranks: at first, and while nothing fits
constexpr size_t kStarts = 4;                            // of a second step
constexpr double kNear = 0.9;                            // of the speed of before
constexpr double kHopeless = 1.3;  // of the room: a guess beyond that is not tried in any case

struct Guessed {
  Layout layout;
  int64_t devices = 1;
  double device_s = 0;  // devices x the guessed step: the less, the faster is each
  double size = 0;      // of the arena, guessed or (`tried`) planned, over the room for it
  bool tried = false;
};

class NearestFits {
 public:
  NearestFits(const Plan& plan, const FixOptions& options)
      : plan_(plan),
        options_(options),
        before_(outcome_of(plan)),
        nodes_(options.more_devices ? 0 : plan.cluster.nodes) {}

  std::vector<Fix> find() {
    int64_t more = options_.more_devices ? kTimesMore : 1;
    find_within(more);
    while (fixes_.empty() && options_.more_devices && more < kMostTimesMore) find_within(more *= kTimesMore);
    return best();
  }

 private:
  void find_within(int64_t times_the_ranks) {
    most_ranks_ = all_ranks(plan_.spec) * times_the_ranks;
    take_steps_from({before_.layout});
    if (std::ranges::none_of(fixes_, [](const Fix& fix) { return fix.speed >= kNear; }))
      take_steps_from(nearest());
    if (fixes_.empty()) try_smallest();
  }

  // The ranks of a layout where they are, and guesses there.
  struct Place {
    Place(const RunSpec& base, const Hardware& hardware, int64_t ranks, int64_t nodes)
        : cluster(cluster_of(hardware, ranks, nodes)), estimator(base, cluster) {}
    Cluster cluster;
    Estimator estimator;
  };

  // nullptr where so many ranks have no place.
  Place* place_of(int64_t ranks) {
    const Hardware& hardware = *plan_.cluster.hardware;
    try {
      const int64_t nodes = nodes_ > 0 ? nodes_ : least_nodes(hardware, ranks);
      return &places_.try_emplace(ranks, plan_.spec, hardware, ranks, nodes).first->second;
    } catch (const UserError&) {
      return nullptr;
    }
  }

  void take_steps_from(const std::vector<Layout>& starts) {
    std::vector<Layout> steps;
    for (const Layout& start : starts)
      for (Layout& step : smaller_layouts(start, most_ranks_))
        if (known_.insert(text_of(step)).second) steps.push_back(std::move(step));
    try_fastest(guess(steps));
  }

  std::vector<Guessed> guess(const std::vector<Layout>& layouts) {
    std::map<int64_t, std::vector<Layout>> by_ranks;
    for (const Layout& layout : layouts) by_ranks[ranks_of(layout)].push_back(layout);
    for (const auto& [ranks, alike] : by_ranks)
      if (Place* place = place_of(ranks)) place->estimator.price(alike, options_.threads);
    std::vector<Guessed> guesses;
    for (const Layout& layout : layouts) {
      Place* place = place_of(ranks_of(layout));
      if (place == nullptr) continue;
      const std::optional<Estimate> guess = place->estimator.of(layout);
      if (!guess) continue;
      const Cluster& cluster = place->cluster;
      const int64_t devices = rented_devices(*cluster.hardware, ranks_of(layout), cluster.nodes);
      guesses.push_back({.layout = layout,
                         .devices = devices,
                         .device_s = guess->step_s * static_cast<double>(devices),
                         .size = static_cast<double>(guess->arena_bytes) /
                                 static_cast<double>(cluster.share.memory_bytes)});
    }
    return guesses;
  }

  bool more(int64_t devices) const { return devices > before_.devices; }

  // In the order in which fixes are shown.
  void try_fastest(std::vector<Guessed> guesses) {
    std::ranges::stable_sort(guesses, {},
                             [&](const Guessed& one) { return std::tuple(more(one.devices), one.device_s); });
    const auto large = std::stable_partition(guesses.begin(), guesses.end(),
                                             [](const Guessed& one) { return one.size <= kMemoryDoubt; });
    left_.insert(left_.end(), large, guesses.end());
    guesses.erase(large, guesses.end());
    attempt(guesses);
  }

  // In case the guesses of memory were wrong: those that were too large by guess, or slower than what was
  // tried.
  void try_smallest() {
    const auto untried = std::stable_partition(
        left_.begin(), left_.end(), [](const Guessed& one) { return one.tried || one.size > kHopeless; });
    std::vector<Guessed> smallest(untried, left_.end());
    left_.erase(untried, left_.end());
    std::ranges::stable_sort(smallest, {}, &Guessed::size);
    attempt(smallest);
  }

  // One after another until there are enough fixes or there was enough work; the rest is left.
  void attempt(std::span<const Guessed> guesses) {
    const size_t enough = fixes_.size() + options_.most;
    const auto at_once = static_cast<size_t>(2 * std::max(1, options_.threads));
    for (int64_t work = 0; !guesses.empty() && fixes_.size() < enough && work < options_.most_work;) {
      const auto batch = guesses.first(std::min(at_once, guesses.size()));
      guesses = guesses.subspan(batch.size());
      for (const Guessed& one : batch) work += work_of(plan_.spec, one.layout);
      attempt_all(batch);
    }
    left_.insert(left_.end(), guesses.begin(), guesses.end());
  }

  void attempt_all(std::span<const Guessed> guesses) {
    std::vector<Layout> layouts;
    for (const Guessed& one : guesses) layouts.push_back(one.layout);
    std::vector<std::optional<Outcome>> outcomes =
        try_layouts(plan_.spec, layouts, *plan_.cluster.hardware, nodes_, options_.threads);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i]) continue;
      if (outcomes[i]->fits()) {
        const double speed = outcomes[i]->tokens_per_s / static_cast<double>(outcomes[i]->devices) /
                             (before_.tokens_per_s / static_cast<double>(before_.devices));
        fixes_.push_back({std::move(*outcomes[i]), speed});
      } else {
        left_.push_back(guesses[i]);
        const RankMemory& fullest = outcomes[i]->fullest;
        left_.back().size = static_cast<double>(fullest.arena_bytes) /
                            static_cast<double>(fullest.arena_bytes - outcomes[i]->missing_bytes);
        left_.back().tried = true;
      }
    }
  }

  // Of what does not fit, or not by guess.
  std::vector<Layout> nearest() {
    std::ranges::stable_sort(left_, {}, &Guessed::size);
    std::vector<Layout> starts;
    for (const Guessed& one : left_)
      if (starts.size() < kStarts && (one.tried || one.size > kMemoryDoubt)) starts.push_back(one.layout);
    return starts;
  }

  // Over as many devices first, then the fastest; of equal ones one.
  std::vector<Fix> best() {
    std::ranges::stable_sort(
        fixes_, {}, [&](const Fix& fix) { return std::tuple(more(fix.outcome.devices), -fix.speed); });
    const auto same = [](const Fix& a, const Fix& b) {
      return a.speed == b.speed && a.outcome.devices == b.outcome.devices;
    };
    fixes_.erase(std::unique(fixes_.begin(), fixes_.end(), same), fixes_.end());
    if (fixes_.size() > options_.most) fixes_.resize(options_.most);
    return std::move(fixes_);
  }

  const Plan& plan_;
  FixOptions options_;
  Outcome before_;
  int64_t nodes_, most_ranks_ = 1;
  std::map<int64_t, Place> places_;  // by ranks
  std::set<std::string> known_;
  std::vector<Fix> fixes_;
  std::vector<Guessed> left_;  // what does not fit, or was not tried
};

}  // namespace

std::vector<Fix> nearest_fits(const Plan& plan, const FixOptions& options) {
  return NearestFits(plan, options).find();
}

}  // namespace trireme
