// Guess, choose, try. tp stays inside a node unless nothing else fits.
#include "plan/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "plan/changes.h"
#include "plan/estimate.h"

#include <chrono>
#include <cstdio>
#define DBG(x) fprintf(stderr, "%s %.3f\n", x, std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count())
namespace trireme {
namespace {

constexpr double kTie = 0.01;    // of the step: a difference that no one would notice
constexpr double kDoubt = 1.15;  // by which the guess of memory may be too high
constexpr size_t kAlike = 4;     // tried layouts that differ in schedule and zero alone
constexpr size_t kOfEachRung = 2;
constexpr int kRounds = 3;  // of steps from the best to a better one beside it

struct Guessed {
  Layout layout;
  Estimate guess;
  Rung rung;
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
    guess(false);
    attempt(chosen());
    if (!any_fits()) attempt(smallest());
    if (!any_fits() && options_.ranks > hardware_.devices_per_node) {
      guess(true);
      attempt(chosen());
      if (!any_fits()) attempt(smallest());
    }
    DBG("tried");
    sort();
    for (int round = 0; round < kRounds && result_.winner() != nullptr; ++round) {
      const Layout winner = result_.winner()->layout;
      result_.around = outcomes(neighbours(winner));
      take(result_.around);
      sort();
      if (text_of(result_.winner()->layout) == text_of(winner)) break;
    }
    DBG("done");
    for (auto& o : result_.tried) { auto g = estimator_.of(o.layout); if (g) fprintf(stderr, "%-70s guess %.3f exact %.3f ratio %.3f | mem %.2f exact %.2f ratio %.3f\n", text_of(o.layout).c_str(), g->step_s, o.step_s, g->step_s/o.step_s, g->arena_bytes/1e9, o.fullest.arena_bytes/1e9, double(g->arena_bytes)/o.fullest.arena_bytes); }
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
    DBG("enumerated");
    estimator_.price(all, options_.threads);
    DBG("priced");
    guessed_.clear();
    result_.guessed = all.size();
    result_.refused = result_.too_large = 0;
    for (const Layout& layout : all) {
      const std::optional<Estimate> guess = estimator_.of(layout);
      if (!guess) {
        ++result_.refused;
        continue;
      }
      if (!may_fit(*guess)) ++result_.too_large;
      guessed_.push_back({layout, *guess, rung_of(layout, hardware_.devices_per_node)});
    }
    std::stable_sort(guessed_.begin(), guessed_.end(),
                     [](const Guessed& a, const Guessed& b) { return a.guess.step_s < b.guess.step_s; });
  }

  bool may_fit(const Estimate& guess) const {
    return static_cast<double>(guess.arena_bytes) <=
           kDoubt * static_cast<double>(cluster_.share.memory_bytes);
  }

  // The fastest by guess, not too many alike, and of each rung at least some.
  std::vector<Layout> chosen() const {
    std::vector<Layout> found;
    std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, size_t> alike;
    std::array<size_t, kRungs> of_rung{};
    for (const Guessed& one : guessed_) {
      if (!may_fit(one.guess)) continue;
      const ParallelSpec& p = one.layout.parallel;
      size_t& same = alike[{p.tp, p.cp, p.pp, p.ep, one.layout.micro}];
      size_t& rung = of_rung[static_cast<size_t>(one.rung)];
      if (same >= kAlike || (found.size() >= options_.exact && rung >= kOfEachRung)) continue;
      ++same, ++rung;
      found.push_back(one.layout);
    }
    for (size_t r = 0; r < kRungs; ++r)
      if (of_rung[r] == 0)
        if (const Guessed* least = smallest_of(static_cast<Rung>(r))) found.push_back(least->layout);
    return found;
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
    for (size_t i = 0; i < std::min<size_t>(order.size(), 32); ++i) found.push_back(order[i]->layout);
    return found;
  }

  std::vector<Outcome> outcomes(const std::vector<Layout>& layouts) const {
    std::vector<Outcome> found;
    for (std::optional<Outcome>& outcome :
         try_layouts(base_, layouts, hardware_, options_.nodes, options_.threads))
      if (outcome && ranks_of(outcome->layout) == options_.ranks) found.push_back(std::move(*outcome));
    return found;
  }

  void attempt(const std::vector<Layout>& layouts) {
    DBG("attempt");
    take(outcomes(layouts));
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
