// Saving and loading GPT-2 124M with its optimizer state on rank threads, beside what the machine does
// without any of it, in turn: a copy of the state in memory, large writes and fsync of as many bytes, large
// reads of them. Files are out of the page cache before they are read. Medians of the rounds, and of ratios
// within a round.
//   bench_checkpoint [rounds = 5] [ranks = 2] [folder = bench-checkpoint, which must not exist]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "io/store/directory_store.h"
#include "io/store/posix_file.h"
#include "train/machine.h"
#include "train/ranks.h"
#include "train/saver.h"
#include "train/state_parts.h"
#include "train/weights.h"

namespace trireme {
namespace {

constexpr size_t kCallBytes = size_t{8} << 20;

RunSpec gpt2(int ranks) {
  return parse_config(
      fmt::format(
          "[model]\npreset = \"gpt2-124m\"\n[data]\ntrain = [\"none\"]\nseq_len = 64\n[batch]\nmicro = "
          "1\nsequences = {}\n[parallel]\ndp_shard = {}\nzero = 1\n[optimizer]\nlr = 6e-4\n[run]\nname = "
          "\"bench\"\nsteps = 1\n",
          ranks, ranks),
      "bench");
}

struct Round {
  double copy_s = 0, blocked_s = 0;        // of the state, in memory; of the loop
  double write_s = 0, save_s = 0;          // plain; from the call until it was committed
  double read_s = 0, load_s = 0;           // plain; with verification
  double load_bytes = 0, shard_bytes = 0;  // by which the process grew, over all ranks; of state
};

void write_plainly(const std::string& path, std::span<const std::byte> bytes) {
  const FileDescriptor file = create_to_write(path);
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kCallBytes, bytes.size())))
    write_all(file.get(), bytes.first(std::min(kCallBytes, bytes.size())), path);
  sync_file(file.get(), path);
}

void read_plainly(const std::string& path, std::span<std::byte> into) {
  const FileDescriptor file = open_to_read(path);
  for (size_t at = 0; at < into.size(); at += kCallBytes)
    read_at(file.get(), static_cast<int64_t>(at), into.subspan(at, std::min(kCallBytes, into.size() - at)),
            path);
}

void drop_from_cache(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const FileDescriptor file = open_to_read(entry.path().string());
    (void)posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

// The most that was resident since begin_peak().
void begin_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) * 1024;
  return 0;
}

// Every rank runs it; times are the leader's, from one meeting of all to the next.
class Bench {
 public:
  Bench(RankLink& link, Engine& engine, const std::string& folder)
      : link_(link),
        engine_(engine),
        folder_(folder),
        store_(open_directory_store(folder + "/checkpoints")),
        saver_(link, engine, *store_, {.keep = {.newest = 1}}) {
    for (const TensorPart& part : written_parts(engine)) bytes_ += part.bytes.size();
    memory_.resize(bytes_);
  }

  Round run(int64_t step) {
    Round round;
    const std::string plain = fmt::format("{}/plain-{}", folder_, link_.rank());
    round.copy_s = timed([&] { (void)staged(written_parts(engine_), memory_, link_.threads()); });
    round.blocked_s = timed([&] { saver_.save({.step = step}, Saver::Behind::yes); });
    round.save_s = round.blocked_s + timed([&] { (void)saver_.take_news(); });
    round.write_s = timed([&] { write_plainly(plain, memory_); });
    if (link_.leads()) drop_from_cache(folder_);
    round.read_s = timed([&] { read_plainly(plain, memory_); });
    std::filesystem::remove(plain);
    if (link_.leads()) begin_peak();
    const int64_t before = resident_bytes();
    round.load_s = timed([&] {
      restore_state(engine_, CheckpointReader(*store_, checkpoint_name(step),
                                              {.threads = link_.threads(), .files = FileCheck::when_used}));
    });
    round.load_bytes = static_cast<double>(peak_bytes() - before);
    round.shard_bytes = static_cast<double>(bytes_);
    return round;
  }

 private:
  template <class Work>
  double timed(const Work& work) {
    link_.meet("bench");
    const double start = seconds_now();
    work();
    link_.meet("bench");
    return seconds_now() - start;
  }

  RankLink& link_;
  Engine& engine_;
  std::string folder_;
  std::unique_ptr<ByteStore> store_;
  Saver saver_;
  size_t bytes_ = 0;
  std::vector<std::byte> memory_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const char* what, const std::vector<Round>& rounds, double Round::*ours, double Round::*plain,
           double gb) {
  std::vector<double> times, plain_times, ratios;
  for (const Round& round : rounds) {
    times.push_back(round.*ours);
    plain_times.push_back(round.*plain);
    ratios.push_back(round.*plain / round.*ours);
  }
  std::printf("%-44s %7.3f s %6.2f GB/s   plain %7.3f s %6.2f GB/s   %5.2f x the plain rate (%.2f to %.2f)\n",
              what, median(times), gb / median(times), median(plain_times), gb / median(plain_times),
              median(ratios), *std::ranges::min_element(ratios), *std::ranges::max_element(ratios));
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  using namespace trireme;
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5, ranks = argc > 2 ? std::atoi(argv[2]) : 2;
  const std::string folder = argc > 3 ? argv[3] : "bench-checkpoint";
  if (!std::filesystem::create_directory(folder)) {
    std::fprintf(stderr, "%s exists or cannot be made\n", folder.c_str());
    return 2;
  }
  const RunSpec spec = gpt2(ranks);
  std::vector<Round> all;
  run_ranks({.mesh = mesh_of(spec), .threads = thread_count(spec)}, [&](RankLink& link) {
    const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = link.threads()});
    const auto device = make_cpu_device({.threads = link.threads()});
    Engine engine(compiled.program, *device, link.connect(compiled.program));
    initialize_weights(engine, compiled.model, 1, link.threads());
    Bench bench(link, engine, folder);
    for (int64_t step = 0; step <= rounds; ++step) {
      const Round round = bench.run(step);
      if (link.leads() && step > 0) all.push_back(round);  // the first touches everything
    }
    return 0;
  });
  std::filesystem::remove_all(folder);
  const double gb = 1e-9 * static_cast<double>(ranks) * all[0].shard_bytes;
  std::printf("GPT-2 124M, %.2f GB of state on %d ranks, %d rounds\n", gb, ranks, rounds);
  print("the loop waits (plain: a copy in memory)", all, &Round::blocked_s, &Round::copy_s, gb);
  print("saved (plain: writes and fsync)", all, &Round::save_s, &Round::write_s, gb);
  print("loaded and verified (plain: cold reads)", all, &Round::load_s, &Round::read_s, gb);
  double grown = 0;
  for (const Round& round : all) grown = std::max(grown, round.load_bytes);
  std::printf("loading took at most %.0f MB of memory beside the plan, for all ranks together\n",
              1e-6 * grown);
}
