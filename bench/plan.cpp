// What the simulator predicts for a step, beside what the step takes: layouts of two models on this
// machine's cores. The machine's speed drifts, so each step stands between two of a yardstick, the model on
// one rank, which every rank runs by itself at once; what is compared is how many yardsticks the step takes
// (median over all steps). Prints that in seconds of the predicted yardstick, the yardstick's own error,
// memory planned and allocated, and how well the layouts are ranked.
//   bench_plan [hardware file | - = calibrate now] [rounds = 3] [dense | moe | all | search] [ops]
// With `search`, the layouts are the ten that the planner's search puts first for the dense model on one rank
// per core. With `ops`, where the time goes by op as well: predicted beside measured, on rank 0.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "calibrate/calibrate.h"
#include "hardware/catalog.h"
#include "measured_step.h"
#include "ops/op.h"
#include "plan/search.h"
#include "sim/curves.h"
#include "sim/op_size.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

struct Layout {
  std::string name, parallel;
  int64_t micro = 1;
};

struct Subject {
  std::string name, model;
  int64_t seq_len = 512, sequences = 8;
  std::vector<Layout> layouts;
};

std::vector<Subject> subjects() {
  return {
      {"dense",
       "family = \"llama\"\nlayers = 4\nwidth = 512\nheads = 8\nkv_heads = 4\nvocab = 8192\ncontext = 512",
       512,
       8,
       {{"1 rank", ""},
        {"1 rank, micro 4", "", 4},
        {"replicated", "dp_replicate = 2"},
        {"zero 1", "dp_shard = 2\nzero = 1"},
        {"zero 2", "dp_shard = 2\nzero = 2"},
        {"zero 3", "dp_shard = 2\nzero = 3"},
        {"zero 3, micro 2", "dp_shard = 2\nzero = 3", 2},
        {"tp, sequence", "tp = 2"},
        {"tp", "tp = 2\nsequence = false"},
        {"gpipe", "pp = 2\nschedule = \"gpipe\""},
        {"1f1b", "pp = 2\nschedule = \"1f1b\""},
        {"1f1b, micro 2", "pp = 2\nschedule = \"1f1b\"", 2},
        {"interleaved", "pp = 2\nschedule = \"interleaved\"\nvirtual_stages = 2"},
        {"zb_h1", "pp = 2\nschedule = \"zb_h1\""},
        {"dualpipev", "pp = 2\nschedule = \"dualpipev\""},
        {"cp ring", "cp = 2"},
        {"cp allgather", "cp = 2\ncp_mode = \"allgather\""},
        {"cp ulysses", "cp = 2\ncp_mode = \"ulysses\""}}},
      {"moe",
       "family = \"llama\"\nlayers = 4\nwidth = 384\nheads = 6\nkv_heads = 6\nvocab = 4096\ncontext = 256\n"
       "[moe]\nexperts = 8\ntop_k = 2\nexpert_ffn = 512",
       256,
       16,
       {{"1 rank", "", 4},
        {"1 rank, micro 8", "", 8},
        {"replicated", "dp_replicate = 2", 4},
        {"zero 2", "dp_shard = 2\nzero = 2", 4},
        {"zero 3", "dp_shard = 2\nzero = 3", 4},
        {"ep", "dp_shard = 2\nep = 2\nzero = 2", 4},
        {"ep, micro 8", "dp_shard = 2\nep = 2\nzero = 2", 8},
        {"tp", "tp = 2", 4},
        {"1f1b", "pp = 2\nschedule = \"1f1b\"", 4},
        {"zb_h1", "pp = 2\nschedule = \"zb_h1\"", 4},
        {"cp ring", "cp = 2", 4}}}};
}

RunSpec spec_of(const Subject& subject, const Layout& layout) {
  return parse_config(
      fmt::format("[data]\ntrain = [\"none\"]\nseq_len = {}\n[batch]\nmicro = {}\nsequences = {}\n"
                  "[parallel]\n{}\n[optimizer]\nlr = 6e-4\n[run]\nname = \"bench\"\nsteps = 1000\n"
                  "[model]\n{}\n",
                  subject.seq_len, layout.micro, subject.sequences, layout.parallel, subject.model),
      "bench");
}

// A layout of a run, to be predicted and measured.
struct Case {
  std::string name;
  RunSpec spec;
};

std::vector<Case> cases_of(const Subject& subject) {
  std::vector<Case> cases;
  for (const Layout& layout : subject.layouts) cases.push_back({layout.name, spec_of(subject, layout)});
  return cases;
}

std::vector<Case> best_by_search(const RunSpec& alone, const Hardware& hardware) {
  constexpr size_t kShown = 10;
  std::vector<Case> cases;
  for (const Outcome& outcome : search(alone, hardware, {.ranks = hardware.devices_per_node}).tried)
    if (outcome.fits() && cases.size() < kShown)
      cases.push_back({text_of(outcome.layout), with_layout(alone, outcome.layout)});
  return cases;
}

struct Prediction {
  std::vector<Program> programs;
  Cluster cluster;
  StepSimulation step;
};

// Of a run that shares the machine among `ranks` ranks; a spec of one rank runs on each of them.
Prediction predict(const RunSpec& spec, const Hardware& hardware, int64_t ranks) {
  Prediction made;
  made.cluster = cluster_of(hardware, ranks, 1);
  made.programs = pipeline_programs(spec, compile_options(spec, made.cluster));
  made.step = simulate_step({.programs = made.programs, .cluster = made.cluster});
  return made;
}

// Of rank 0: what its kernels are priced at, by op, and whether by a curve.
struct OpPrice {
  double seconds = 0;
  bool curve = true;
};

std::map<std::string, OpPrice> prices_by_op(const Prediction& made) {
  std::map<std::string, OpPrice> prices;
  const Program& program = made.programs[0];
  for (const Action& action : find_timeline(program, "train")->actions) {
    if (!action.unit.valid()) continue;
    const Code& code = program.code(program.unit(action.unit).code);
    for (const Op* op : ops_of(code, section_of(action.kind))) {
      const OpSig sig = signature(*op, code.values);
      OpPrice& price = prices[op->kind];
      price.seconds += kernel_s(made.cluster, sig);
      if (!measured_op_s(*made.cluster.hardware, sig, made.cluster.share.threads)) price.curve = false;
    }
  }
  return prices;
}

void print_ops(const Prediction& made, const bench::MeasuredRank& measured) {
  for (const auto& [op, price] : prices_by_op(made)) {
    const auto found = measured.ops.find(op);
    const double seconds = found == measured.ops.end() ? 0 : found->second.seconds;
    if (std::max(seconds, price.seconds) < 1e-3) continue;
    std::printf("      %-24s predicted %8.2f ms  measured %8.2f ms  %+6.1f %%%s\n", op.c_str(),
                1e3 * price.seconds, 1e3 * seconds, 100 * (price.seconds / seconds - 1),
                price.curve ? "" : "  (no curve)");
  }
  std::map<std::string, std::pair<double, double>> kinds;
  const std::vector<Action>& actions = find_timeline(made.programs[0], "train")->actions;
  for (size_t i = 0; i < actions.size() && i < measured.actions.size(); ++i) {
    const SimSpan& span = made.step.ranks[0].spans[i];
    auto& [predicted, real] = kinds[std::string(name_of(actions[i].kind))];
    predicted += span.end_s - span.start_s;
    real += measured.actions[i].end_s - measured.actions[i].start_s;
  }
  for (const auto& [kind, seconds] : kinds)
    std::printf("      %-24s predicted %8.2f ms  measured %8.2f ms\n", kind.c_str(), 1e3 * seconds.first,
                1e3 * seconds.second);
}

// Memory planned and allocated, of every rank, to the byte.
bool same_memory(const RunSpec& spec, const Prediction& made, const bench::MeasuredStep& measured) {
  CompileOptions options = compile_options(spec, made.cluster);
  for (size_t rank = 0; rank < measured.ranks.size(); ++rank) {
    options.rank = static_cast<int>(rank);
    if (compile(spec, options).program.memory.arena_bytes != measured.ranks[rank].allocated_bytes)
      return false;
  }
  return true;
}

struct Row {
  std::string name;
  double predicted_s = 0;
  double measured_s = 0;  // at the yardstick's predicted speed
  double error() const { return predicted_s / measured_s - 1; }
};

void summarize(std::vector<Row> rows) {
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(std::abs(row.error()));
  const auto by_measured = [](const Row& a, const Row& b) { return a.measured_s < b.measured_s; };
  const auto by_predicted = [](const Row& a, const Row& b) { return a.predicted_s < b.predicted_s; };
  const Row first = *std::min_element(rows.begin(), rows.end(), by_predicted);
  const Row best = *std::min_element(rows.begin(), rows.end(), by_measured);
  int64_t ordered = 0, pairs = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < i; ++j, ++pairs)
      ordered += by_measured(rows[i], rows[j]) == by_predicted(rows[i], rows[j]) ? 1 : 0;
  std::printf(
      "  %zu layouts: median error %.1f %%, worst %.1f %%; %lld of %lld pairs in order; first choice %s, "
      "%.1f %% behind the best, %s\n",
      rows.size(), 100 * bench::median(errors), 100 * *std::max_element(errors.begin(), errors.end()),
      static_cast<long long>(ordered), static_cast<long long>(pairs), first.name.c_str(),
      100 * (first.measured_s / best.measured_s - 1), best.name.c_str());
}

struct Options {
  int64_t rounds = 3;
  bool ops = false;
};

// Rounds over all cases, so that what is compared was measured at the same time; `alone` is the yardstick.
void run(const std::vector<Case>& cases, const RunSpec& alone, const Hardware& hardware,
         const Options& options) {
  std::vector<std::vector<double>> lengths(cases.size()), yardsticks(cases.size());
  std::vector<Row> rows;
  for (int64_t round = 0; round < options.rounds; ++round)
    for (size_t c = 0; c < cases.size(); ++c) {
      const RunSpec& spec = cases[c].spec;
      const bool last = round + 1 == options.rounds;
      const bench::MeasuredStep measured =
          bench::measure_step(spec, {.steps = 8, .by_action = options.ops && last, .yardstick = &alone});
      const std::vector<double>& yard = measured.yardstick_s;
      yardsticks[c].insert(yardsticks[c].end(), yard.begin(), yard.end());
      for (size_t i = 0; i < measured.steps_s.size(); ++i)
        lengths[c].push_back(2 * measured.steps_s[i] / (yard[i] + yard[i + 1]));
      if (!last) continue;
      const Prediction made = predict(spec, hardware, all_ranks(spec));
      const double yard_s = predict(alone, hardware, all_ranks(spec)).step.step_s;
      rows.push_back({cases[c].name, made.step.step_s, yard_s * bench::median(lengths[c])});
      std::printf(
          "  %-34s predicted %7.1f ms  measured %7.1f ms  %+6.1f %%  (yardstick %+6.1f %%)  memory %7.1f MB "
          "%s\n",
          rows.back().name.c_str(), 1e3 * rows.back().predicted_s, 1e3 * rows.back().measured_s,
          100 * rows.back().error(), 100 * (yard_s / bench::median(yardsticks[c]) - 1),
          1e-6 * static_cast<double>(measured.ranks[0].allocated_bytes),
          same_memory(spec, made, measured) ? "as planned" : "NOT AS PLANNED");
      if (options.ops) print_ops(made, measured.ranks[0]);
      std::fflush(stdout);
    }
  summarize(rows);
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  using namespace trireme;
  const std::string file = argc > 1 ? argv[1] : "-", wanted = argc > 3 ? argv[3] : "all";
  const Options options{.rounds = argc > 2 ? std::atoll(argv[2]) : 3,
                        .ops = argc > 4 && std::string(argv[4]) == "ops"};
  const Hardware hardware =
      file == "-" ? calibrate({.date = "now", .threads = thread_count({})}) : load_hardware(file);
  for (const Subject& subject : subjects()) {
    const std::vector<Case> cases = cases_of(subject);
    const RunSpec& alone = cases[0].spec;
    if (wanted == "all" || wanted == subject.name) {
      std::printf("%s\n", subject.name.c_str());
      run(cases, alone, hardware, options);
    }
    if (wanted == "search" && subject.name == "dense")
      run(best_by_search(alone, hardware), alone, hardware, options);
  }
  return 0;
}
