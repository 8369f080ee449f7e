// What each process of an mpirun does for run_case.sh: the collectives against their naive references, or one
// of the ways to fail. It ends as trireme does: the message on stderr, then exit code 3 for all.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/collective_checks.h"
#include "comm/mpi/mpi_world.h"

namespace trireme {
namespace {

constexpr double kTimeoutS = 3;

void say(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }

void expect(const std::string& wrong) {
  if (!wrong.empty()) throw std::runtime_error(wrong);
}

std::vector<int> ranks_from(int first, int end, int step) {
  std::vector<int> out;
  for (int r = first; r < end; r += step) out.push_back(r);
  return out;
}

// Everything on the whole world, on strided and reversed parts of it, and on two communicators at once.
void collectives(MpiWorld& world, int me) {
  const int ranks = world.ranks();
  const auto all = ranks_from(0, ranks, 1);
  const auto comm = world.communicator(all, me, 0);
  expect(check_everything(*comm, 300'001));
  expect(check_all_reduce(*comm, DType::f32, 1'500'007));  // several rounds
  expect(check_uneven_all_to_all(*comm, 3'000'000));
  // The others run ahead of the last one until they have no slot left.
  for (const int late : {0, ranks - 1}) {
    if (me == late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    expect(check_all_gather(*comm, 12'000'003));
    if (me == late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    expect(check_all_reduce(*comm, DType::f32, 4'000'037));
  }
  const auto part = world.communicator(ranks_from(me % 2, ranks, 2), me, 0);
  expect(check_everything(*part, 20'011));
  const auto reversed = world.communicator(std::vector<int>(all.rbegin(), all.rend()), me, 0);
  expect(check_everything(*reversed, 20'011));
  const auto stream = world.communicator(all, me, 1);
  std::string wrong;
  std::thread beside([&] {
    for (int64_t turn = 0; turn < 30 && wrong.empty(); ++turn)
      wrong = check_reduce_scatter(*stream, DType::bf16, turn * 37) + check_messages(*stream, turn * 91);
  });
  std::string here;
  for (int64_t turn = 0; turn < 30 && here.empty(); ++turn)
    here = check_messages(*comm, turn * 64) + check_all_reduce(*comm, DType::f64, 3);
  beside.join();
  expect(here + wrong);
}

// Steps until rank 1 does what the case is about.
void fails(MpiWorld& world, int me, const std::string& how) {
  const auto comm = world.communicator(ranks_from(0, world.ranks(), 1), me, 0);
  std::vector<float> data(100'000, 1.0f);
  for (int step = 0;; ++step) {
    comm->all_reduce(data.data(), 100'000, DType::f32, "gradients of block 4");
    if (me != 1 || step < 20) continue;
    if (how == "throws") throw std::runtime_error("the disk is full");
    if (how == "stopped") std::raise(SIGSTOP);
    if (how == "killed" || how == "survivors") std::raise(SIGKILL);
    std::this_thread::sleep_for(std::chrono::seconds(60));  // absent
  }
}

int run(const std::string& name) {
  const bool threads = name.find("threads") == 0, messages = name.find("messages") != std::string::npos;
  MpiOptions options{.ranks_per_process = threads ? 2 : 1, .timeout_s = kTimeoutS};
  const bool good = threads || messages || name == "window";
  if (good) options.timeout_s = 600;  // run_case.sh catches hangs
  if (messages) options.window_bytes_per_rank = 0;
  MpiWorld world(options);
  bool failed = false;
  std::mutex mutex;
  std::vector<std::thread> ranks;
  for (int t = 0; t < options.ranks_per_process; ++t)
    ranks.emplace_back([&, me = world.process() * options.ranks_per_process + t] {
      try {
        good ? collectives(world, me) : fails(world, me, name);
      } catch (const std::exception& error) {
        say(fmt::format("rank {}: {}", me, error.what()));
        world.fail(me, {kEnvironment, error.what()});
        const std::lock_guard lock(mutex);
        failed = true;
      }
    });
  for (std::thread& rank : ranks) rank.join();
  if (failed) world.abort(3);
  world.finish();
  return 0;
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) { return argc == 2 ? trireme::run(argv[1]) : 2; }
