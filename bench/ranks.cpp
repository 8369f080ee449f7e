// Training on this machine's cores in several layouts, in turn: one rank with all cores, which is the
// yardstick, and one rank per core. Every layout has the same global batch. Medians of the rounds, and ratios
// within a round: the machine's speed drifts.
//   gpt2   GPT-2 124M, T = 1024: data parallel and pipelines
//   llama  2 layers of width 2048, T = 1024: tensor parallel
//   long   2 layers of width 1024, T = 8192: context parallel
//   bench_ranks [rounds = 3] [ranks = cores] [micro-batches per step = 2 x ranks] [gpt2 | llama | long, else
//   all]
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measured_step.h"

namespace trireme {
namespace {

struct Layout {
  std::string name, keys;
};

struct Subject {
  std::string name, model;
  int64_t seq_len = 1024, micro = 4;
  std::vector<Layout> layouts;
};

RunSpec spec_of(const Subject& subject, const Layout& layout, int64_t micro_batches) {
  return parse_config(
      fmt::format(
          "[model]\n{}\n[data]\ntrain = [\"none\"]\nseq_len = {}\n[batch]\nmicro = {}\nsequences = {}\n"
          "[parallel]\n{}\n[optimizer]\nlr = 6e-4\n[run]\nname = \"bench\"\nsteps = 1000\n",
          subject.model, subject.seq_len, subject.micro, subject.micro * micro_batches, layout.keys),
      "bench");
}

struct Outcome {
  double tokens_per_s = 0, exposed_comm_s = 0, step_s = 0;
};

// One step that touches everything and is left out, one that counts.
Outcome measure(const Subject& subject, const Layout& layout, int64_t micro_batches) {
  const RunSpec spec = spec_of(subject, layout, micro_batches);
  const bench::MeasuredStep step = bench::measure_step(spec, {});
  const double seconds = step.steps_s[0];
  return {static_cast<double>(tokens_per_step(spec)) / seconds, step.exposed_s[0], seconds};
}

using bench::median;

std::vector<Subject> subjects(const std::string& ranks) {
  const Layout alone{"1 rank, all cores", ""};
  const std::string tp = "tp = " + ranks + "\n", cp = "cp = " + ranks + "\n";
  return {
      {"gpt2",
       "preset = \"gpt2-124m\"",
       1024,
       4,
       {alone,
        {ranks + " ranks, replicated", "dp_replicate = " + ranks + "\n"},
        {ranks + " ranks, zero 1", "dp_shard = " + ranks + "\nzero = 1\n"},
        {ranks + " ranks, zero 2", "dp_shard = " + ranks + "\nzero = 2\n"},
        {ranks + " ranks, zero 3", "dp_shard = " + ranks + "\nzero = 3\n"},
        {ranks + " ranks, 1f1b", "pp = " + ranks + "\nschedule = \"1f1b\"\n"},
        {ranks + " ranks, zb_h1", "pp = " + ranks + "\nschedule = \"zb_h1\"\n"}}},
      {"llama",
       "family = \"llama\"\nlayers = 2\nwidth = 2048\nheads = 16\nvocab = 32000\ncontext = 1024",
       1024,
       2,
       {alone, {ranks + " ranks, tp, sequence", tp}, {ranks + " ranks, tp", tp + "sequence = false\n"}}},
      {"long",
       "family = \"llama\"\nlayers = 2\nwidth = 1024\nheads = 16\nkv_heads = 8\nvocab = 8192\ncontext = 8192",
       8192,
       1,
       {alone,
        {ranks + " ranks, ring", cp},
        {ranks + " ranks, allgather", cp + "cp_mode = \"allgather\"\n"},
        {ranks + " ranks, ulysses", cp + "cp_mode = \"ulysses\"\n"}}},
  };
}

void run(const Subject& subject, int64_t rounds, int64_t micro_batches) {
  const std::vector<Layout>& layouts = subject.layouts;
  std::printf("%s\n", subject.name.c_str());
  std::vector<std::vector<double>> rates(layouts.size()), ratios(layouts.size()), exposed(layouts.size());
  for (int64_t round = 0; round < rounds; ++round)
    for (size_t l = 0; l < layouts.size(); ++l) {
      const Outcome outcome = measure(subject, layouts[l], micro_batches);
      rates[l].push_back(outcome.tokens_per_s);
      ratios[l].push_back(outcome.tokens_per_s / rates[0].back());
      exposed[l].push_back(outcome.exposed_comm_s / outcome.step_s);
      std::printf("  %-24s %8.1f tokens/s, %.2f x, waited for communication %4.1f %% of the step\n",
                  layouts[l].name.c_str(), rates[l].back(), ratios[l].back(), exposed[l].back() * 100);
      std::fflush(stdout);
    }
  std::printf("medians of %lld rounds, %lld micro-batches per step\n", static_cast<long long>(rounds),
              static_cast<long long>(micro_batches));
  for (size_t l = 0; l < layouts.size(); ++l)
    std::printf("  %-24s %8.1f tokens/s, %.2f x, waited for communication %4.1f %% of the step\n",
                layouts[l].name.c_str(), median(rates[l]), median(ratios[l]), median(exposed[l]) * 100);
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  const auto number = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  const std::vector<trireme::Subject> one = trireme::subjects("1");
  const int cores = trireme::thread_count(trireme::spec_of(one[0], one[0].layouts[0], 1));
  const int64_t rounds = number(1, 3), ranks = number(2, cores), micro_batches = number(3, 2 * ranks);
  const std::string wanted = argc > 4 ? argv[4] : "";
  for (const trireme::Subject& subject : trireme::subjects(std::to_string(ranks)))
    if (wanted.empty() || wanted == subject.name) trireme::run(subject, rounds, micro_batches);
  return 0;
}
