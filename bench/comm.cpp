// Reduce-scatter and all-gather of 256 MB between two ranks, beside two plain threads that sum and copy the
// same amount of shared memory; the turns alternate, and medians and the ratio are printed.
//
//   bench_comm                       ranks are threads (goal: 80 % of the plain threads)
//   mpirun -n 2 bench_comm mpi       ranks are processes on one host, through the shared window (goal: 60 %)
//
// Wall times are of the slower rank. cpu is the time that its thread ran: waits that sleep do not count,
// those that spin do. On a busy machine, where threads of one program are together less often than not, it
// says more.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "comm/local/local_world.h"
#include "comm/mpi/mpi_world.h"

namespace trireme {
namespace {

constexpr int64_t kBytes = int64_t{256} << 20, kCount = kBytes / 4, kHalf = kCount / 2;
constexpr int kTurns = 7;

struct Seconds {
  double wall = 0, cpu = 0;
};

template <class F>
Seconds timed(const F& body) {
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = thread_seconds_now();
  body();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(),
          thread_seconds_now() - cpu};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The buffers of one rank: 256 MB in, 256 MB out.
struct Buffers {
  std::vector<float> in = std::vector<float>(kCount, 1.0f), out = std::vector<float>(kCount, 2.0f);
};

// The two halves of the work, on a thread each: the slower one counts.
template <class F>
Seconds two_threads(const F& half) {
  Seconds times[2];
  std::thread other([&] { times[1] = timed([&] { half(1); }); });
  times[0] = timed([&] { half(0); });
  other.join();
  return {std::max(times[0].wall, times[1].wall), std::max(times[0].cpu, times[1].cpu)};
}

Seconds plain_sum(Buffers* ranks) {
  return two_threads([&](int me) {
    const float *a = ranks[0].in.data() + me * kHalf, *b = ranks[1].in.data() + me * kHalf;
    float* out = ranks[me].out.data();
    for (int64_t i = 0; i < kHalf; ++i) out[i] = a[i] + b[i];
  });
}

Seconds plain_copy(Buffers* ranks) {
  return two_threads([&](int me) {
    for (int r = 0; r < 2; ++r) std::memcpy(ranks[me].out.data() + r * kHalf, ranks[r].in.data(), kBytes / 2);
  });
}

Seconds reduce_scatter(Communicator& comm, Buffers& mine) {
  comm.barrier("start");
  return timed([&] { comm.reduce_scatter(mine.in.data(), mine.out.data(), kHalf, DType::f32, "bench"); });
}

Seconds all_gather(Communicator& comm, Buffers& mine) {
  comm.barrier("start");
  return timed([&] { comm.all_gather(mine.in.data(), mine.out.data(), kBytes / 2, "bench"); });
}

void print(std::string_view name, const std::vector<Seconds>& plain, const std::vector<Seconds>& comm) {
  std::vector<double> plain_wall, comm_wall, wall_ratio, cpu_ratio;
  for (size_t i = 0; i < plain.size(); ++i) {
    plain_wall.push_back(plain[i].wall);
    comm_wall.push_back(comm[i].wall);
    wall_ratio.push_back(plain[i].wall / comm[i].wall);
    cpu_ratio.push_back(plain[i].cpu / comm[i].cpu);
  }
  const double gigabytes = static_cast<double>(kBytes) * 1e-9;
  fmt::print("{:<32} plain threads {:6.2f} GB/s   ranks {:6.2f} GB/s   ratio wall {:.2f}  cpu {:.2f}\n", name,
             gigabytes / median(plain_wall), gigabytes / median(comm_wall), median(wall_ratio),
             median(cpu_ratio));
}

Seconds slower(Seconds a, Seconds b) { return {std::max(a.wall, b.wall), std::max(a.cpu, b.cpu)}; }

using Collective = Seconds (*)(Communicator&, Buffers&);

void bench_local() {
  LocalWorld world({.ranks = 2, .timeout_s = 60});
  Buffers ranks[2];
  const auto turn = [&](Collective collective) {
    Seconds times[2];
    const auto run = [&](int me) {
      const int members[] = {0, 1};
      times[me] = collective(*world.communicator(members, me, 0), ranks[me]);
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    return slower(times[0], times[1]);
  };
  std::vector<Seconds> sum, reduce, copy, gather;
  for (int i = 0; i < kTurns; ++i) {
    sum.push_back(plain_sum(ranks));
    reduce.push_back(turn(reduce_scatter));
    copy.push_back(plain_copy(ranks));
    gather.push_back(turn(all_gather));
  }
  print("local reduce-scatter, 256 MB", sum, reduce);
  print("local all-gather, 256 MB", copy, gather);
}

// Process 0 measures the plain threads while process 1 waits.
void bench_mpi() {
  MpiWorld world({.ranks_per_process = 1, .timeout_s = 60});
  if (world.processes() != 2)
    fail_user("bench_comm mpi wants 2 processes, not {}: mpirun -n 2 bench_comm mpi", world.processes());
  const int members[] = {0, 1};
  const auto comm = world.communicator(members, world.process(), 0);
  std::vector<Buffers> ranks(world.process() == 0 ? 2 : 1);
  const auto turn = [&](Collective collective) {
    const Seconds mine = collective(*comm, ranks[0]);
    double all[4] = {}, own[2] = {mine.wall, mine.cpu};
    comm->all_gather(own, all, sizeof own, "times");
    return slower({all[0], all[1]}, {all[2], all[3]});
  };
  std::vector<Seconds> sum, reduce, copy, gather;
  for (int i = 0; i < kTurns; ++i) {
    if (world.process() == 0) sum.push_back(plain_sum(ranks.data()));
    reduce.push_back(turn(reduce_scatter));
    comm->barrier("turn");
    if (world.process() == 0) copy.push_back(plain_copy(ranks.data()));
    gather.push_back(turn(all_gather));
    comm->barrier("turn");
  }
  if (world.process() == 0) {
    print("MPI window reduce-scatter, 256 MB", sum, reduce);
    print("MPI window all-gather, 256 MB", copy, gather);
  }
  world.finish();
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  try {
    argc == 2 && std::string_view(argv[1]) == "mpi" ? trireme::bench_mpi() : trireme::bench_local();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
  return 0;
}
