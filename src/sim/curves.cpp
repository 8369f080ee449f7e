// Look-up: neighbours along each dim, weights, the mean of logarithms.
#include "sim/curves.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sim/op_size.h"

namespace trireme {
namespace {

using Point = std::pair<std::vector<int64_t>, double>;

double log_of(int64_t n) { return std::log(static_cast<double>(std::max<int64_t>(1, n))); }

// Where a size lies between two of the sorted values: low and low + 1 where part > 0.
struct Between {
  size_t low = 0;
  double part = 0;
};

Between locate(const std::vector<int64_t>& values, int64_t size) {
  if (size <= values.front()) return {0, 0};
  if (size >= values.back()) return {values.size() - 1, 0};
  const auto above = std::upper_bound(values.begin(), values.end(), size);
  const auto low = static_cast<size_t>(above - values.begin() - 1);
  return {low, (log_of(size) - log_of(values[low])) / (log_of(values[low + 1]) - log_of(values[low]))};
}

// The values of each dim, sorted.
std::vector<std::vector<int64_t>> values_of(const std::vector<Point>& points) {
  std::vector<std::vector<int64_t>> values(points.front().first.size());
  for (size_t d = 0; d < values.size(); ++d) {
    for (const Point& point : points) values[d].push_back(point.first.at(d));
    std::sort(values[d].begin(), values[d].end());
    values[d].erase(std::unique(values[d].begin(), values[d].end()), values[d].end());
  }
  return values;
}

double log_rate(std::string_view op, const Point& point) {
  return std::log(work_of_size(op, point.first) / std::max(point.second, 1e-12));
}

double nearest_log_rate(const OpCurve& curve, const std::vector<int64_t>& size) {
  const auto distance = [&](const Point& point) {
    double sum = 0;
    for (size_t d = 0; d < size.size(); ++d) sum += std::abs(log_of(size[d]) - log_of(point.first[d]));
    return sum;
  };
  return log_rate(
      curve.op, *std::min_element(curve.points.begin(), curve.points.end(),
                                  [&](const Point& a, const Point& b) { return distance(a) < distance(b); }));
}

// Over the corners of the cell that the size lies in. Points are sorted, so those of a full grid lie in
// row-major order of their sizes.
double grid_log_rate(const OpCurve& curve, const std::vector<std::vector<int64_t>>& values,
                     const std::vector<int64_t>& size) {
  std::vector<Between> places;
  for (size_t d = 0; d < values.size(); ++d) places.push_back(locate(values[d], size[d]));
  double sum = 0;
  for (size_t corner = 0; corner < size_t{1} << places.size(); ++corner) {
    double weight = 1;
    size_t index = 0;
    for (size_t d = 0; d < places.size(); ++d) {
      const bool high = (corner >> d & 1) != 0;
      weight *= high ? places[d].part : 1 - places[d].part;
      index = index * values[d].size() + places[d].low + (high && places[d].part > 0 ? 1 : 0);
    }
    if (weight > 0) sum += weight * log_rate(curve.op, curve.points[index]);
  }
  return sum;
}

// Among the curves that fit, of which seconds(curve) is wanted: the one of exactly `count` (threads, ranks),
// or the mean of logarithms between the nearest on both sides.
template <class Curve, class Count, class Fits, class Seconds>
std::optional<double> between_curves(const std::vector<Curve>& curves, int64_t count, const Count& count_of,
                                     const Fits& fits, const Seconds& seconds) {
  const Curve *below = nullptr, *above = nullptr;
  for (const Curve& curve : curves) {
    if (!fits(curve) || curve.points.empty()) continue;
    const int64_t n = count_of(curve);
    if (n <= count && (below == nullptr || n > count_of(*below))) below = &curve;
    if (n >= count && (above == nullptr || n < count_of(*above))) above = &curve;
  }
  if (below == nullptr || above == nullptr) return std::nullopt;
  const double low = seconds(*below);
  if (count_of(*below) == count_of(*above)) return low;
  const double part = locate({count_of(*below), count_of(*above)}, count).part;
  return std::exp((1 - part) * std::log(low) + part * std::log(seconds(*above)));
}

}  // namespace

double seconds_on(const OpCurve& curve, const std::vector<int64_t>& size) {
  CHECK(!curve.points.empty() && curve.points.front().first.size() == size.size(), "{}: {} points, {} dims",
        curve.op, curve.points.size(), size.size());
  const std::vector<std::vector<int64_t>> values = values_of(curve.points);
  size_t cells = 1;
  for (const auto& of_dim : values) cells *= of_dim.size();
  const double rate =
      cells == curve.points.size() ? grid_log_rate(curve, values, size) : nearest_log_rate(curve, size);
  return work_of_size(curve.op, size) / std::exp(rate);
}

double seconds_on(const CommCurve& curve, int64_t bytes) {
  CHECK(!curve.points.empty(), "{} has no points", curve.op);
  std::vector<int64_t> values;
  for (const auto& point : curve.points) values.push_back(point.first);
  const Between at = locate(values, bytes);
  const auto log_s = [&](size_t i) { return std::log(std::max(curve.points[i].second, 1e-12)); };
  if (at.part > 0) return std::exp((1 - at.part) * log_s(at.low) + at.part * log_s(at.low + 1));
  const double here = curve.points[at.low].second;
  return bytes <= values[at.low] ? here
                                 : here * static_cast<double>(bytes) / static_cast<double>(values[at.low]);
}

std::optional<double> measured_op_s(const Hardware& hardware, const OpSig& sig, int64_t threads) {
  if (hardware.ops.empty()) return std::nullopt;
  const std::string op = curve_of_op(sig);
  const std::string_view dtype = dtype_of_op(sig);
  const std::vector<int64_t> size = size_of_op(sig);
  const auto fits = [&](const OpCurve& curve) { return curve.op == op && curve.dtype == dtype; };
  const auto count_of = [](const OpCurve& curve) { return curve.threads; };
  return between_curves(hardware.ops, threads, count_of, fits,
                        [&](const OpCurve& curve) { return seconds_on(curve, size); });
}

std::optional<double> measured_comm_s(const Hardware& hardware, std::string_view op, int64_t ranks,
                                      int64_t bytes) {
  const auto fits = [&](const CommCurve& curve) { return curve.op == op; };
  const auto count_of = [](const CommCurve& curve) { return curve.ranks; };
  return between_curves(hardware.comms, ranks, count_of, fits,
                        [&](const CommCurve& curve) { return seconds_on(curve, bytes); });
}

}  // namespace trireme
