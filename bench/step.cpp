// The whole training step of GPT-2 124M (T = 1024, micro-batch 4) beside the floor of this machine: the time
// that oneDNN needs for the step's matrix products with packed weights, plus causal attention's at that same
// rate, measured in turn with the steps. Then where the time goes, by op.
//   bench_step [micro-batches per step = 4] [timed steps = 3] [compute = both | bf16 | fp32] [threads = 0: 1
//   and all]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "model/flops.h"
#include "product_floor.h"
#include "train/machine.h"
#include "train/optimizer_step.h"
#include "train/weights.h"

namespace trireme {
namespace {

struct Settings {
  int64_t micro_batches = 4, steps = 3;
  std::string compute = "both";
  int threads = 0;
};

RunSpec gpt2(const std::string& compute, int64_t micro_batches) {
  return parse_config(
      "[model]\npreset = \"gpt2-124m\"\n[data]\ntrain = [\"none\"]\nseq_len = 1024\n[batch]\nmicro = "
      "4\nsequences = " +
          std::to_string(4 * micro_batches) + "\n[optimizer]\nlr = 6e-4\n[precision]\ncompute = \"" +
          compute + "\"\n[run]\nname = \"bench\"\nsteps = 1000\n",
      "bench");
}

void print_profile(const Profile& profile, double tokens) {
  std::vector<std::pair<std::string, OpTime>> rows(profile.begin(), profile.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  double total = 0;
  for (const auto& [name, time] : rows) total += time.seconds;
  for (const auto& [name, time] : rows)
    std::printf("    %-22s %8.1f us/token %6.1f %%\n", name.c_str(), time.seconds / tokens * 1e6,
                time.seconds / total * 100);
}

void measure(const std::string& compute, int threads, const Settings& settings) {
  const RunSpec spec = gpt2(compute, settings.micro_batches);
  const Compiled compiled = compile(spec, {.threads = threads});
  const auto device = make_cpu_device({.threads = threads});
  Engine engine(compiled.program, *device);
  initialize_weights(engine, compiled.model, 1, threads);
  const int64_t tokens = tokens_per_step(spec);
  std::vector<int32_t> ids(static_cast<size_t>(tokens)), targets(static_cast<size_t>(tokens));
  const RandomStream stream(1, "bench");
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(stream.bits(i) % 50257);
    targets[i] = static_cast<int32_t>(stream.bits(i + ids.size()) % 50257);
  }
  std::vector<BatchArrays> batches;
  for (int64_t m = 0; m < settings.micro_batches; ++m)
    batches.push_back({ids.data() + m * 4096, targets.data() + m * 4096});
  int64_t step = 0;
  const auto seconds_of_step = [&] {
    const double start = seconds_now();
    ++step;
    run_optimizer_step(engine, spec.optimizer, {1e-4, step, tokens}, batches);
    return seconds_now() - start;
  };
  seconds_of_step();  // touches everything once, and is left out
  // Step and floor in turn: the machine's speed drifts.
  std::vector<double> rates, ratios;
  for (int64_t s = 0; s < settings.steps; ++s) {
    const double rate = static_cast<double>(tokens) / seconds_of_step();
    const bench::Floor floor = bench::measure_floor(
        {.dtype = compute == "bf16" ? DType::bf16 : DType::f32, .threads = threads, .repeats = 1});
    rates.push_back(rate);
    ratios.push_back(floor.tokens_per_s / rate);
    std::printf("  step %.1f tokens/s, floor %.1f tokens/s: %.2f x the floor's time\n", rate,
                floor.tokens_per_s, ratios.back());
  }
  Profile profile;
  engine.profile_into(&profile);
  seconds_of_step();
  std::sort(rates.begin(), rates.end());
  std::sort(ratios.begin(), ratios.end());
  std::printf(
      "%s, %d thread(s): median %.1f tokens/s, %.2f x the floor's time; arena %.2f GB, resident %.2f GB\n",
      compute.c_str(), threads, rates[rates.size() / 2], ratios[ratios.size() / 2],
      static_cast<double>(compiled.program.memory.arena_bytes) / 1e9,
      static_cast<double>(resident_bytes()) / 1e9);
  print_profile(profile, static_cast<double>(tokens));
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  trireme::Settings settings;
  if (argc > 1) settings.micro_batches = std::atoll(argv[1]);
  if (argc > 2) settings.steps = std::atoll(argv[2]);
  if (argc > 3) settings.compute = argv[3];
  if (argc > 4) settings.threads = std::atoi(argv[4]);
  const int all = trireme::thread_count(trireme::gpt2("bf16", 1));
  for (const char* compute : {"bf16", "fp32"}) {
    if (settings.compute != "both" && settings.compute != compute) continue;
    for (const int threads : {all, 1})
      if (settings.threads == 0 || settings.threads == threads) trireme::measure(compute, threads, settings);
  }
  return 0;
}
