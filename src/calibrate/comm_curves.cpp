// Calls in a row, as blocks and gradients make them; the buffers are larger than a core's own caches.
#include "calibrate/comm_curves.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/clock.h"
#include "calibrate/quantile.h"
#include "device/cpu/arena.h"
#include "train/ranks.h"

namespace trireme {
namespace {

constexpr int64_t kRotateBytes = int64_t{32} << 20;

struct Buffers {
  std::byte *from = nullptr, *to = nullptr;
};

// Elements of f32 that make one rank send about so many bytes; what it sends of them exactly is counted.
int64_t elements_for(const std::string& op, int64_t sent_bytes, int64_t ranks) {
  const int64_t floats = sent_bytes / 4;
  if (op == "send") return std::max<int64_t>(1, floats);
  if (op == "all_reduce") return std::max<int64_t>(ranks, floats * ranks / (2 * (ranks - 1)));
  return std::max<int64_t>(1, floats / (ranks - 1));
}

void call(Communicator& comm, const std::string& op, int64_t count, const Buffers& at) {
  if (op == "all_reduce") comm.all_reduce(at.from, count, DType::f32, op);
  if (op == "all_gather") comm.all_gather(at.from, at.to, count * 4, op);
  if (op == "reduce_scatter") comm.reduce_scatter(at.from, at.to, count, DType::f32, op);
  if (op == "all_to_all") comm.all_to_all(at.from, at.to, count * 4, op);
  if (op != "send") return;
  if (comm.rank() == 0) comm.send(at.from, count * 4, 1, op);
  if (comm.rank() == 1) comm.recv(at.to, count * 4, 0, op);
}

struct Measured {
  int64_t sent_bytes = 0;
  double seconds = 0;
};

// All ranks make as many calls; rank 0 sends, and its time counts.
Measured measure(RankLink& link, const std::string& op, int64_t count, CpuArena& arena, int64_t arena_bytes,
                 double budget_s) {
  Communicator& comm = *link.control();
  const int64_t half = arena_bytes / 2, each = (count * 4 * comm.size() + 63) / 64 * 64;
  const int64_t places = std::max<int64_t>(1, half / each);
  int64_t next = 0;
  const auto once = [&] {
    const int64_t offset = next++ % places * each;
    call(comm, op, count, {arena.data() + offset, arena.data() + half + offset});
  };
  once();
  const double begin = seconds_now();
  once();
  once();
  const double first = link.sum((seconds_now() - begin) / 2, "a first call") / comm.size();
  const auto calls = static_cast<size_t>(std::clamp(budget_s / std::max(first, 1e-7), 3.0, 2000.0));
  std::vector<double> seconds(calls);
  comm.barrier(op);
  const int64_t sent = comm.sent_bytes();
  for (double& of_call : seconds) {
    const double start = seconds_now();
    once();
    of_call = seconds_now() - start;
  }
  const int64_t sent_bytes = (comm.sent_bytes() - sent) / static_cast<int64_t>(calls);
  return {sent_bytes, quantile(std::move(seconds), 0.5)};
}

std::vector<int64_t> sizes_of(Extent extent) {
  if (extent == Extent::quick) return {4 << 10, 256 << 10, 4 << 20};
  return {1 << 10, 16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20};
}

}  // namespace

std::vector<CommCurve> measure_comms(const CommCurvesOptions& options) {
  std::set<int> counts;
  for (int ranks = 2; ranks < options.threads; ranks *= 2) counts.insert(ranks);
  if (options.threads > 1) counts.insert(options.threads);
  std::vector<CommCurve> curves;
  for (const int ranks : counts) {
    std::vector<CommCurve> here;
    for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send"})
      here.push_back({op, ranks, {}});
    const std::vector<int64_t> sizes = sizes_of(options.extent);
    const int64_t arena_bytes = std::max(2 * kRotateBytes, 4 * ranks * sizes.back());
    Mesh mesh;
    mesh.dp_replicate = ranks;
    run_ranks({.mesh = mesh, .threads = ranks}, [&](RankLink& link) {
      CpuArena arena(arena_bytes, 1);
      for (CommCurve& curve : here)
        for (const int64_t bytes : sizes) {
          const int64_t count = elements_for(curve.op, bytes, ranks);
          const Measured m = measure(link, curve.op, count, arena, arena_bytes, options.per_call_s);
          if (link.leads() && (curve.points.empty() || m.sent_bytes > curve.points.back().first))
            curve.points.emplace_back(m.sent_bytes, m.seconds);
        }
      return 0;
    });
    curves.insert(curves.end(), here.begin(), here.end());
  }
  return curves;
}

}  // namespace trireme
