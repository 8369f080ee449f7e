// Ranks that time the same op together, again and again.
#include "calibrate/op_curves.h"

#include <algorithm>
#include <map>

#include "calibrate/op_timer.h"
#include "calibrate/quantile.h"
#include "hardware/curves.h"
#include "sim/op_size.h"
#include "train/ranks.h"

namespace trireme {
namespace {

// What calls of an op go through before they come round. Ops that move memory: of all ranks together more
// than the last level of caches, since what they read is of long ago: weights, gradients, what was saved for
// backward. Products and attention: more than a core's own caches, since workspaces are used again and again.
constexpr int64_t kColdBytes = int64_t{512} << 20, kWarmBytes = int64_t{24} << 20;

// Points of curves that are in both, by key.
template <class Curve>
void keep_fastest_points(std::vector<Curve>& curves, const std::vector<Curve>& again) {
  for (const Curve& other : again) {
    const auto same = [&](const Curve& curve) { return curve_key(curve) == curve_key(other); };
    const auto known = std::find_if(curves.begin(), curves.end(), same);
    if (known == curves.end()) {
      curves.push_back(other);
      continue;
    }
    for (auto& [size, seconds] : known->points)
      for (const auto& [other_size, other_s] : other.points)
        if (size == other_size) seconds = std::min(seconds, other_s);
  }
}

}  // namespace

std::vector<OpCurve> measure_ops(const std::vector<OpSig>& all, const OpCurvesOptions& options) {
  std::vector<OpSig> sigs;
  OperandBytes largest;
  for (const OpSig& sig : all) {
    const OperandBytes bytes = operand_bytes(sig, options.threads);
    if (bytes.sum() > options.most_bytes) continue;
    largest.inputs = std::max(largest.inputs, bytes.inputs);
    largest.outputs = std::max(largest.outputs, bytes.outputs);
    largest.scratch = std::max(largest.scratch, bytes.scratch);
    sigs.push_back(sig);
  }
  std::vector<double> seconds(sigs.size());
  Mesh mesh;
  mesh.dp_replicate = options.ranks;
  run_ranks({.mesh = mesh, .threads = options.ranks * options.threads}, [&](RankLink& link) {
    const int64_t cold_bytes = std::max(kColdBytes / options.ranks, 2 * kWarmBytes);
    OpTimer timer({options.threads, largest, cold_bytes});
    for (size_t i = 0; i < sigs.size(); ++i) {
      timer.prepare(sigs[i], on_grid(sigs[i]) ? kWarmBytes : cold_bytes);
      link.meet("an op that is timed");
      std::vector<double> by_rank(static_cast<size_t>(options.ranks));
      by_rank[static_cast<size_t>(link.rank())] = timer.measure(options.per_op_s);
      link.sum(by_rank, "times of an op");
      if (!link.leads()) continue;
      seconds[i] = quantile(std::move(by_rank), 0.25);  // ranks are alike: what is slower was disturbed
      if (options.progress) options.progress(i + 1, sigs.size());
    }
    return 0;
  });
  std::map<std::pair<std::string, std::string>, std::map<std::vector<int64_t>, double>> points;
  for (size_t i = 0; i < sigs.size(); ++i) {
    auto& of_curve = points[{curve_of_op(sigs[i]), std::string(dtype_of_op(sigs[i]))}];
    const auto at = of_curve.try_emplace(size_of_op(sigs[i]), seconds[i]).first;
    at->second = std::min(at->second, seconds[i]);
  }
  std::vector<OpCurve> curves;
  for (const auto& [key, of_curve] : points)
    curves.push_back({key.first, key.second, options.threads, {of_curve.begin(), of_curve.end()}});
  return curves;
}

void keep_fastest(std::vector<OpCurve>& curves, const std::vector<OpCurve>& again) {
  keep_fastest_points(curves, again);
}
void keep_fastest(std::vector<CommCurve>& curves, const std::vector<CommCurve>& again) {
  keep_fastest_points(curves, again);
}

}  // namespace trireme
