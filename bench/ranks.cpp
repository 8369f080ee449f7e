// GPT-2 124M in bf16 (T = 1024, micro-batch 4) on this machine's cores in several layouts, in turn: one rank
// with all cores, which is the yardstick, and one rank per core, data parallel and as a pipeline. Every
// layout has the same global batch. Medians of the rounds, and ratios within a round: the machine's speed
// drifts.
//   bench_ranks [rounds = 3] [ranks = cores] [micro-batches per step = 2 x ranks]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "train/machine.h"
#include "train/optimizer_step.h"
#include "train/ranks.h"
#include "train/weights.h"

namespace trireme {
namespace {

struct Layout {
  std::string name, keys;
};

RunSpec spec_of(const Layout& layout, int64_t micro_batches) {
  return parse_config(
      "[model]\npreset = \"gpt2-124m\"\n[data]\ntrain = [\"none\"]\nseq_len = 1024\n[batch]\nmicro = "
      "4\nsequences = " +
          std::to_string(4 * micro_batches) + "\n[parallel]\n" + layout.keys +
          "[optimizer]\nlr = 6e-4\n[run]\nname = \"bench\"\nsteps = 1000\n",
      "bench");
}

std::vector<int32_t> draw(int64_t count, const char* what) {
  const RandomStream stream(1, what);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(stream.bits(i) % 50257);
  return ids;
}

struct Outcome {
  double tokens_per_s = 0, exposed_comm_s = 0, step_s = 0;
};

// One step that touches everything and is left out, one that counts.
Outcome measure(const Layout& layout, int64_t micro_batches) {
  const RunSpec spec = spec_of(layout, micro_batches);
  const Mesh mesh{static_cast<int32_t>(spec.parallel.pp), static_cast<int32_t>(spec.parallel.dp_replicate),
                  static_cast<int32_t>(spec.parallel.dp_shard)};
  const int64_t tokens = tokens_per_step(spec);
  const std::vector<int32_t> ids = draw(tokens, "ids"), targets = draw(tokens, "targets");
  Outcome outcome;
  run_ranks({.mesh = mesh, .threads = thread_count(spec)}, [&](RankLink& link) {
    const int threads = link.threads();
    const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = threads});
    const auto device = make_cpu_device({.threads = threads});
    Engine engine(compiled.program, *device, link.connect(compiled.program));
    initialize_weights(engine, compiled.model, 1, threads);
    const int64_t mine = micro_batches_per_step(spec), first = mesh.data_parallel_index(link.rank()) * mine;
    std::vector<BatchArrays> batches;
    for (int64_t m = first; m < first + mine; ++m)
      batches.push_back({ids.data() + m * 4096, targets.data() + m * 4096});
    for (int64_t step = 1; step <= 2; ++step) {
      link.meet("the start of a step");
      const double start = seconds_now(), exposed = engine.exposed_comm_s();
      run_optimizer_step(engine, spec.optimizer, {1e-4, step, tokens}, batches);
      link.meet("the end of a step");
      if (!link.leads()) continue;
      outcome.step_s = seconds_now() - start;
      outcome.tokens_per_s = static_cast<double>(tokens) / outcome.step_s;
      outcome.exposed_comm_s = engine.exposed_comm_s() - exposed;
    }
    return 0;
  });
  return outcome;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(int64_t rounds, const std::string& ranks, int64_t micro_batches) {
  const std::vector<Layout> layouts = {
      {"1 rank, all cores", ""},
      {ranks + " ranks, replicated", "dp_replicate = " + ranks + "\n"},
      {ranks + " ranks, zero 1", "dp_shard = " + ranks + "\nzero = 1\n"},
      {ranks + " ranks, zero 2", "dp_shard = " + ranks + "\nzero = 2\n"},
      {ranks + " ranks, zero 3", "dp_shard = " + ranks + "\nzero = 3\n"},
      {ranks + " ranks, 1f1b", "pp = " + ranks + "\nschedule = \"1f1b\"\n"},
      {ranks + " ranks, zb_h1", "pp = " + ranks + "\nschedule = \"zb_h1\"\n"},
  };
  std::vector<std::vector<double>> rates(layouts.size()), ratios(layouts.size()), exposed(layouts.size());
  for (int64_t round = 0; round < rounds; ++round)
    for (size_t l = 0; l < layouts.size(); ++l) {
      const Outcome outcome = measure(layouts[l], micro_batches);
      rates[l].push_back(outcome.tokens_per_s);
      ratios[l].push_back(outcome.tokens_per_s / rates[0].back());
      exposed[l].push_back(outcome.exposed_comm_s / outcome.step_s);
      std::printf("  %-22s %8.1f tokens/s, %.2f x, waited for communication %4.1f %% of the step\n",
                  layouts[l].name.c_str(), rates[l].back(), ratios[l].back(), exposed[l].back() * 100);
      std::fflush(stdout);
    }
  std::printf("medians of %lld rounds, %lld micro-batches per step\n", static_cast<long long>(rounds),
              static_cast<long long>(micro_batches));
  for (size_t l = 0; l < layouts.size(); ++l)
    std::printf("  %-22s %8.1f tokens/s, %.2f x, waited for communication %4.1f %% of the step\n",
                layouts[l].name.c_str(), median(rates[l]), median(ratios[l]), median(exposed[l]) * 100);
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  const int cores = trireme::thread_count(trireme::spec_of({}, 1));
  const int64_t rounds = argc > 1 ? std::atoll(argv[1]) : 3, ranks = argc > 2 ? std::atoll(argv[2]) : cores;
  trireme::run(rounds, std::to_string(ranks), argc > 3 ? std::atoll(argv[3]) : 2 * ranks);
  return 0;
}
