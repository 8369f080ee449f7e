// The counts of all layers as one array, which ranks of other stages fill in by one all-reduce.
#include "train/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace trireme {
namespace {

bool is_router_state(const Param& param) { return param.role == ParamRole::router_state; }

// "layers.12.moe.balance" -> "12"
std::string layer_of(const Param& param) {
  constexpr std::string_view kPrefix = "layers.";
  const std::string name = param.name.substr(param.name.starts_with(kPrefix) ? kPrefix.size() : 0);
  return name.substr(0, name.find('.'));
}

void judge(ExpertLoad& load) {
  for (const LayerLoad& layer : load.layers) {
    load.dropped += layer.dropped;
    const double all = std::accumulate(layer.chosen.begin(), layer.chosen.end(), 0.0);
    if (all == 0) continue;
    double entropy = 0;
    for (const double chosen : layer.chosen) {
      const double share = chosen / all;
      load.max_share = std::max(load.max_share, share);
      if (share > 0) entropy -= share * std::log(share);
    }
    const double even = std::log(static_cast<double>(layer.chosen.size()));
    load.entropy += (even > 0 ? entropy / even : 1.0) / static_cast<double>(load.layers.size());
  }
}

// Of each layer its counts, and how many ranks have brought them: all that hold the layer have the same.
std::vector<double> counts_of(const Engine& engine) {
  const std::vector<Param>& params = engine.program().params;
  std::vector<double> counts;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!is_router_state(params[i])) continue;
    const auto first = static_cast<std::ptrdiff_t>(counts.size());
    counts.resize(counts.size() + static_cast<size_t>(count(params[i].shape)) + 1);
    for (const StatePiece& piece :
         engine.state_pieces(ParamId(static_cast<int64_t>(i)), ParamState::moment1)) {
      std::copy(piece.values.begin(), piece.values.end(), counts.begin() + first + piece.first);
      counts.back() = 1;
    }
  }
  return counts;
}

// Of a layer's part of the array.
LayerLoad load_of(const Param& param, const double* counts) {
  const int64_t experts = param.shape[1];
  const double holders = std::max(1.0, counts[2 * experts]);
  LayerLoad layer{layer_of(param), {}, 0};
  for (int64_t e = 0; e < experts; ++e) {
    layer.chosen.push_back(counts[e] / holders);
    layer.dropped += static_cast<int64_t>(counts[experts + e] / holders);
  }
  return layer;
}

}  // namespace

ExpertLoad expert_load(RankLink& link, const Engine& engine) {
  std::vector<double> counts = counts_of(engine);
  ExpertLoad load;
  if (counts.empty()) return load;
  if (link.control() != nullptr)
    link.control()->all_reduce(counts.data(), static_cast<int64_t>(counts.size()), DType::f64,
                               "experts' load");
  const double* next = counts.data();
  for (const Param& param : engine.program().params) {
    if (!is_router_state(param)) continue;
    load.layers.push_back(load_of(param, next));
    next += count(param.shape) + 1;
  }
  judge(load);
  return load;
}

}  // namespace trireme
