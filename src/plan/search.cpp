// Guess, choose, try. tp stays inside a node unless nothing else fits.
#include "plan/search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "plan/changes.h"
#include "plan/estimate.h"
#include "plan/in_parallel.h"

namespace trireme {
namespace {

constexpr double kTie = 0.01;      // of the step: a difference that no one would notice
constexpr double kSurely = 0.9;    // of the room: by guess, enough in any case
constexpr double kSpare = 0.8;     // of the room, for when guesses were too low
constexpr double kHopeless = 1.1;  // of the best step: a guess beyond that is not tried
constexpr size_t kAlike = 3;       // tried layouts that differ in schedule, zero and recompute alone
constexpr size_t kOfEachRung = 2;
constexpr size_t kSmallest = 16;  // that are tried when nothing else fits
constexpr int64_t kWhatever = std::numeric_limits<int64_t>::max();
constexpr int kRounds = 3;  // of steps from the best to a better one beside it

struct Guessed {
  Layout layout;
  Estimate guess;
  Rung rung;
};

struct Guesses {
  std::vector<Guessed> list;
  size_t refused = 0, too_large = 0;
};

class Search {
 public:
  Search(const RunSpec& base, const Hardware& hardware, const SearchOptions& options)
      : base_(base),
        hardware_(hardware),
        options_(options),
        cluster_(cluster_of(hardware, options.ranks, options.nodes)),
        estimator_(base, cluster_) {}

  SearchResult run() {
    for (const bool across_nodes : {false, true}) {
      if (across_nodes && (any_fits() || options_.ranks <= hardware_.devices_per_node)) break;
      guess(across_nodes);
      try_fastest();
      try_rungs();
      if (!any_fits()) take(outcomes(smallest(), options_.most_work / 2));
    }
    sort();
    for (int round = 0; round < kRounds && result_.winner() != nullptr; ++round) {
      const Layout winner = result_.winner()->layout;
      result_.around = outcomes(neighbours(winner), options_.most_work);
      take(result_.around);
      sort();
      if (text_of(result_.winner()->layout) == text_of(winner)) break;
    }
    return std::move(result_);
  }

 private:
  bool any_fits() const {
    return std::any_of(result_.tried.begin(), result_.tried.end(), [](const Outcome& o) { return o.fits(); });
  }

  void guess(bool across_nodes) {
    const std::vector<Layout> all = layouts(base_, {.ranks = options_.ranks,
                                                    .devices_per_node = hardware_.devices_per_node,
                                                    .across_nodes = across_nodes});
    estimator_.price(all, options_.threads);
    // In parts that end where a layout without recomputation begins, each with caches of its own.
    const size_t parts = static_cast<size_t>(options_.threads);
    std::vector<size_t> ends(parts + 1, all.size());
    for (size_t i = 0; i < parts; ++i) {
      ends[i] = all.size() * i / parts;
      while (ends[i] < all.size() && all[ends[i]].parallel.recompute != RecomputeKind::none) ++ends[i];
    }
    std::vector<Guesses> found(parts);
    in_parallel(parts, options_.threads, [&](size_t i) {
      found[i] = guess_all(std::span(all).subspan(ends[i], ends[i + 1] - ends[i]));
    });
    guessed_.clear();
    result_.guessed = all.size();
    result_.refused = result_.too_large = 0;
    for (Guesses& part : found) {
      result_.refused += part.refused;
      result_.too_large += part.too_large;
      std::move(part.list.begin(), part.list.end(), std::back_inserter(guessed_));
    }
    std::stable_sort(guessed_.begin(), guessed_.end(),
                     [](const Guessed& a, const Guessed& b) { return a.guess.step_s < b.guess.step_s; });
  }

  Guesses guess_all(std::span<const Layout> layouts) const {
    Estimator estimator = estimator_;
    Guesses guesses;
    bool less_fits = false;  // the same layout with less recomputation
    for (const Layout& layout : layouts) {
      if (layout.parallel.recompute == RecomputeKind::none) less_fits = false;
      if (less_fits) continue;
      const std::optional<Estimate> guess = estimator.of(layout);
      if (!guess) {
        ++guesses.refused;
        continue;
      }
      if (!may_fit(*guess, kMemoryDoubt)) ++guesses.too_large;
      less_fits = may_fit(*guess, kSurely);
      guesses.list.push_back({layout, *guess, rung_of(layout, hardware_.devices_per_node)});
    }
    return guesses;
  }

  // Within `times` the room.
  bool may_fit(const Estimate& guess, double times) const {
    return static_cast<double>(guess.arena_bytes) <= times * static_cast<double>(cluster_.share.memory_bytes);
  }

  // From the fastest guess on, not too many alike, until no guess is near the best or there was enough
  // work.
  void try_fastest() {
    std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, size_t> alike;
    std::vector<Layout> batch;
    int64_t work = 0;
    for (const Guessed& one : guessed_) {
      if (!may_fit(one.guess, kMemoryDoubt)) continue;
      if (work >= options_.most_work || one.guess.step_s > kHopeless * best_step_s()) break;
      const ParallelSpec& p = one.layout.parallel;
      if (p.zero > 0 && less_cut_fits(one.layout)) continue;
      if (++alike[{p.tp, p.cp, p.pp, p.ep, one.layout.micro}] > kAlike) continue;
      work += work_of(base_, one.layout);
      batch.push_back(one.layout);
      if (batch.size() < 4 * static_cast<size_t>(options_.threads)) continue;
      take(outcomes(batch, kWhatever));
      batch.clear();
    }
    take(outcomes(batch, kWhatever));
  }

  // The same layout with a lower zero, or summing less often, has been seen to fit: cutting more makes
  // nothing faster.
  bool less_cut_fits(const Layout& layout) const {
    const ParallelSpec& p = layout.parallel;
    return std::ranges::any_of(result_.tried, [&](const Outcome& outcome) {
      const ParallelSpec& other = outcome.layout.parallel;
      if (!outcome.fits() || other.zero > p.zero) return false;
      Layout as_tried = layout;
      as_tried.parallel.zero = other.zero;
      as_tried.parallel.reduce_each_micro_batch = other.reduce_each_micro_batch;
      const bool less_often = sums_each_micro_batch(layout) && !sums_each_micro_batch(outcome.layout);
      return (other.zero < p.zero || less_often) && changed_keys(outcome.layout, as_tried).empty();
    });
  }

  double best_step_s() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Outcome& outcome : result_.tried)
      if (outcome.fits()) best = std::min(best, outcome.step_s);
    return best;
  }

  // Of each rung on which nothing has been seen to fit: the fastest that may, then those with more room to
  // spare, then the smallest.
  void try_rungs() {
    for (const double room : {1 / kMemoryDoubt, kSpare, 0.0}) {
      std::vector<Layout> more;
      for (size_t r = 0; r < kRungs; ++r) {
        if (result_.rungs[r] && result_.rungs[r]->fits()) continue;
        const auto rung = static_cast<Rung>(r);
        size_t found = 0;
        for (const Guessed& one : guessed_)
          if (found < kOfEachRung && one.rung == rung && may_fit(one.guess, room)) {
            more.push_back(one.layout);
            ++found;
          }
        const Guessed* least = room > 0 ? nullptr : smallest_of(rung);
        if (least != nullptr) more.push_back(least->layout);
      }
      take(outcomes(more, options_.most_work / 4));
    }
  }

  const Guessed* smallest_of(Rung rung) const {
    const Guessed* least = nullptr;
    for (const Guessed& one : guessed_)
      if (one.rung == rung && (least == nullptr || one.guess.arena_bytes < least->guess.arena_bytes))
        least = &one;
    return least;
  }

  // By guessed memory: for when nothing that was chosen fits.
  std::vector<Layout> smallest() const {
    std::vector<const Guessed*> order;
    for (const Guessed& one : guessed_) order.push_back(&one);
    std::stable_sort(order.begin(), order.end(), [](const Guessed* a, const Guessed* b) {
      return a->guess.arena_bytes < b->guess.arena_bytes;
    });
    std::vector<Layout> found;
    for (size_t i = 0; i < std::min(order.size(), kSmallest); ++i) found.push_back(order[i]->layout);
    return found;
  }

  // Of the layouts, from the first on, those that so much work is enough for; of the first in any case.
  std::vector<Outcome> outcomes(const std::vector<Layout>& layouts, int64_t most_work) const {
    std::vector<Layout> chosen;
    for (const Layout& layout : layouts) {
      const int64_t work = work_of(base_, layout);
      if (!chosen.empty() && work > most_work) continue;
      most_work -= work;
      chosen.push_back(layout);
    }
    std::vector<Outcome> found;
    for (std::optional<Outcome>& outcome :
         try_layouts(base_, chosen, hardware_, options_.nodes, options_.threads))
      if (outcome && ranks_of(outcome->layout) == options_.ranks) found.push_back(std::move(*outcome));
    return found;
  }

  void take(const std::vector<Outcome>& more) {
    for (const Outcome& outcome : more) keep_best_of_rung(outcome);
    std::set<std::string> known;
    for (const Outcome& outcome : result_.tried) known.insert(text_of(outcome.layout));
    for (const Outcome& outcome : more)
      if (known.insert(text_of(outcome.layout)).second) result_.tried.push_back(outcome);
  }

  static bool better(const Outcome& a, const Outcome& b) {
    if (a.fits() != b.fits()) return a.fits();
    return a.fits() ? a.step_s < b.step_s : a.missing_bytes < b.missing_bytes;
  }

  void keep_best_of_rung(const Outcome& outcome) {
    std::optional<Outcome>& best =
        result_.rungs[static_cast<size_t>(rung_of(outcome.layout, hardware_.devices_per_node))];
    if (!best || better(outcome, *best)) best = outcome;
  }

  void sort() {
    std::vector<Outcome>& tried = result_.tried;
    std::stable_sort(tried.begin(), tried.end(), better);
    if (tried.empty() || !tried[0].fits()) return;
    const double most_s = tried[0].step_s * (1 + kTie);
    size_t simplest = 0;
    const auto complexity_of = [&](size_t i) {
      return complexity(tried[i].layout, hardware_.devices_per_node);
    };
    for (size_t i = 1; i < tried.size() && tried[i].fits() && tried[i].step_s <= most_s; ++i)
      if (complexity_of(i) < complexity_of(simplest)) simplest = i;
    std::rotate(tried.begin(), tried.begin() + static_cast<ptrdiff_t>(simplest),
                tried.begin() + static_cast<ptrdiff_t>(simplest) + 1);
  }

  const RunSpec& base_;
  const Hardware& hardware_;
  SearchOptions options_;
  Cluster cluster_;
  Estimator estimator_;
  std::vector<Guessed> guessed_;
  SearchResult result_;
};

}  // namespace

const Outcome* SearchResult::winner() const {
  return tried.empty() || !tried[0].fits() ? nullptr : tried.data();
}

SearchResult search(const RunSpec& base, const Hardware& hardware, const SearchOptions& options) {
  return Search(base, hardware, options).run();
}

}  // namespace trireme
