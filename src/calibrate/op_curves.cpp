// Ranks that time the same op together, again and again.
#include "calibrate/op_curves.h"

#include <algorithm>
#include <map>

#include "calibrate/op_timer.h"
#include "sim/op_size.h"
#include "train/ranks.h"

namespace trireme {

std::vector<OpCurve> measure_ops(const std::vector<OpSig>& all, const OpCurvesOptions& options) {
  std::vector<OpSig> sigs;
  int64_t arena_bytes = 0;
  for (const OpSig& sig : all) {
    const int64_t bytes = operand_bytes(sig, options.threads);
    if (bytes > options.most_bytes) continue;
    arena_bytes = std::max(arena_bytes, bytes);
    sigs.push_back(sig);
  }
  std::vector<double> seconds(sigs.size());
  Mesh mesh;
  mesh.dp_replicate = options.ranks;
  run_ranks({.mesh = mesh, .threads = options.ranks * options.threads}, [&](RankLink& link) {
    OpTimer timer(options.threads, arena_bytes);
    for (size_t i = 0; i < sigs.size(); ++i) {
      timer.prepare(sigs[i]);
      link.meet("an op that is timed");
      const double mean = link.sum(timer.measure(options.per_op_s), "times of an op") / options.ranks;
      if (!link.leads()) continue;
      seconds[i] = mean;
      if (options.progress) options.progress(i + 1, sigs.size());
    }
    return 0;
  });
  std::map<std::pair<std::string, std::string>, std::map<std::vector<int64_t>, double>> points;
  for (size_t i = 0; i < sigs.size(); ++i)
    points[{curve_of_op(sigs[i]), std::string(dtype_of_op(sigs[i]))}].try_emplace(size_of_op(sigs[i]),
                                                                                  seconds[i]);
  std::vector<OpCurve> curves;
  for (const auto& [key, of_curve] : points)
    curves.push_back({key.first, key.second, options.threads, {of_curve.begin(), of_curve.end()}});
  return curves;
}

}  // namespace trireme
