// Curves of the same op and dtype, held against each other size by size.
#include "calibrate/disturbed.h"

#include <algorithm>

namespace trireme {
namespace {

constexpr double kBarrier_s = 50e-6;  // a call in which threads' meetings may be the most
constexpr double kSlower = 2;

}  // namespace

ThreadedPoints threaded_points(const Hardware& hardware) {
  ThreadedPoints points;
  for (const OpCurve& curve : hardware.ops) {
    const auto alone = std::ranges::find_if(hardware.ops, [&](const OpCurve& other) {
      return other.op == curve.op && other.dtype == curve.dtype && other.threads == 1;
    });
    if (curve.threads == 1 || alone == hardware.ops.end()) continue;
    for (const auto& [size, seconds] : curve.points)
      for (const auto& [size_alone, alone_s] : alone->points) {
        if (size != size_alone || alone_s < kBarrier_s) continue;
        ++points.all;
        points.slower += seconds > kSlower * alone_s ? 1 : 0;
      }
  }
  return points;
}

}  // namespace trireme
