// Two passes of dynamic programming over (stages, blocks) prefixes: the first finds the least largest cost,
// the second the evenest cut that keeps to it.
#include "lower/stages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace trireme {
namespace {

using Ranges = std::vector<BlockRange>;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Sums over ranges, so that a stage's cost is the same number wherever it is asked for.
class Costs {
 public:
  explicit Costs(std::span<const double> blocks) : before_(blocks.size() + 1) {
    std::partial_sum(blocks.begin(), blocks.end(), before_.begin() + 1);
  }
  size_t blocks() const { return before_.size() - 1; }
  double of(size_t first, size_t end) const { return before_[end] - before_[first]; }

 private:
  std::vector<double> before_;
};

// least[end]: the least largest cost of a stage when the first `end` blocks are cut into s stages. It grows
// with `end`, and the last stage's cost falls with its first block: where they cross is the least of the two.
double least_largest_cost(const Costs& costs, size_t stages) {
  std::vector<double> least(costs.blocks() + 1, kNever);
  for (size_t end = 1; end <= costs.blocks(); ++end) least[end] = costs.of(0, end);
  for (size_t s = 2; s <= stages; ++s) {
    std::vector<double> next(costs.blocks() + 1, kNever);
    for (size_t end = s; end <= costs.blocks(); ++end) {
      size_t low = s - 1,
             high = end - 1;  // the last stage's first block: where the rest outweighs it, or the last
      while (low < high) {
        const size_t middle = (low + high) / 2;
        if (least[middle] >= costs.of(middle, end))
          high = middle;
        else
          low = middle + 1;
      }
      next[end] = std::max(least[low], costs.of(low, end));
      if (low > s - 1) next[end] = std::min(next[end], std::max(least[low - 1], costs.of(low - 1, end)));
    }
    least = std::move(next);
  }
  return least[costs.blocks()];
}

// Of the cuts whose stages cost at most `limit`, the one with the least sum of squares.
Ranges evenest(const Costs& costs, size_t stages, double limit) {
  constexpr double kEqual = 1e-12;  // sums of squares that differ by rounding are equal
  const size_t n = costs.blocks();
  const double unit = limit > 0 ? limit : 1;
  std::vector<double> least(n + 1, kNever);
  least[0] = 0;
  std::vector<std::vector<size_t>> first(stages, std::vector<size_t>(n + 1));
  for (size_t s = 0; s < stages; ++s) {
    std::vector<double> next(n + 1, kNever);
    for (size_t end = s + 1; end <= n; ++end)
      for (size_t begin = end; begin-- > s;) {
        const double cost = costs.of(begin, end);
        if (cost > limit) break;
        const double sum = least[begin] + cost / unit * (cost / unit);
        if (sum > next[end] * (1 + kEqual)) continue;  // equal ones: the later, which begins earlier
        next[end] = std::min(sum, next[end]);
        first[s][end] = begin;
      }
    least = std::move(next);
  }
  Ranges ranges(stages);
  for (size_t s = stages, end = n; s-- > 0; end = first[s][end]) ranges[s] = {first[s][end], end};
  return ranges;
}

Ranges as_listed(size_t blocks, size_t stages, std::span<const int64_t> layers) {
  const auto total = static_cast<int64_t>(blocks) - 2;
  const std::string key = fmt::format("parallel.stages = [{}]", fmt::join(layers, ", "));
  if (layers.size() != stages)
    fail_user(
        "{} lists {} stages but parallel.pp x parallel.virtual_stages make {}; give {} numbers that add up "
        "to {}",
        key, layers.size(), stages, stages, total);
  const int64_t sum = std::accumulate(layers.begin(), layers.end(), int64_t{0});
  if (sum != total)
    fail_user("{} adds up to {} layers but model.layers = {}; give {} numbers that add up to {}", key, sum,
              total, stages, total);
  Ranges ranges;
  size_t begin = 0;
  for (size_t s = 0; s < stages; ++s) {
    const size_t ends = (s == 0 ? 1 : 0) + (s + 1 == stages ? 1 : 0);
    const size_t end = begin + static_cast<size_t>(layers[s]) + ends;
    if (end == begin)
      fail_user(
          "{} leaves stage {} of {} empty; only the first (which has the embedding) and the last (which has "
          "the head) may have no layer",
          key, s, stages);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

}  // namespace

std::vector<BlockRange> cut_stages(std::span<const double> block_costs, int32_t stages,
                                   std::span<const int64_t> layers) {
  CHECK(stages >= 1 && block_costs.size() >= 2, "{} stages of {} blocks", stages, block_costs.size());
  const auto count = static_cast<size_t>(stages);
  if (count > block_costs.size())
    fail_user(
        "parallel.pp x parallel.virtual_stages make {} stages but the model has {} blocks (the embedding, "
        "model.layers = {}, the head); use at most {} stages",
        stages, block_costs.size(), block_costs.size() - 2, block_costs.size());
  if (!layers.empty()) return as_listed(block_costs.size(), count, layers);
  const Costs costs(block_costs);
  return evenest(costs, count, least_largest_cost(costs, count));
}

std::vector<BlockRange> cut_chain(std::vector<double> block_costs, int64_t model_layers, int32_t stages,
                                  std::span<const int64_t> layers) {
  const size_t blocks = block_costs.size(), head = 1 + static_cast<size_t>(model_layers);
  for (; block_costs.size() > head + 1; block_costs.pop_back()) block_costs[head] += block_costs.back();
  std::vector<BlockRange> ranges = cut_stages(block_costs, stages, layers);
  ranges.back().end = blocks;
  return ranges;
}

}  // namespace trireme
