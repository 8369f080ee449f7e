// Pipelines on the null device: a rank among sixteen thousand, and what the walk of all ranks shows of each
// schedule's bubble.
#include <gtest/gtest.h>

#include <ctime>
#include <map>

#include "compile/compile.h"
#include "device/null/null_device.h"
#include "engine/engine.h"
#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void walk(const Program& program) {
  const auto device = make_null_device();
  Engine engine(program, *device);
  const Timeline& train = *find_timeline(program, "train");
  const BatchArrays nothing(program.batch.size());
  engine.run(train, std::vector<BatchArrays>(static_cast<size_t>(train.micro_batches), nothing));
}

// GPT-3 175B's shape (Brown et al. 2020, table 2.1) on 16 x 1024 ranks.
TEST(PipelineEngine, OneRankOfSixteenThousand) {
  for (const char* zero : {"1", "3"}) {
    const RunSpec spec = parse_config(
        fmt::format(
            "[model]\nfamily = \"gpt2\"\nlayers = 96\nwidth = 12288\nheads = 96\nvocab = 50257\n"
            "context = 2048\n[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 65536\nmicro = 1\n"
            "[parallel]\npp = 16\ndp_shard = 1024\nzero = {}\nschedule = \"1f1b\"\n"
            "[optimizer]\nlr = 1e-4\n[run]\nname = \"large\"\nsteps = 10\ndevice = \"null\"\n",
            zero),
        "large");
    ASSERT_EQ(all_ranks(spec), 16 * 1024);
    for (const int rank : {0, 7 * 1024 + 513, 16 * 1024 - 1}) {
      const double start = thread_seconds();
      const Compiled compiled = compile(spec, {.rank = rank, .threads = 8});
      const double seconds = thread_seconds() - start;
      fmt::print("rank {} of {}, zero {}: {} actions, {:.2f} GB, compiled in {:.3f} s of CPU time\n", rank,
                 all_ranks(spec), zero, compiled.program.timelines[0].actions.size(),
                 static_cast<double>(compiled.program.memory.arena_bytes) / 1e9, seconds);
      walk(compiled.program);
    }
  }
}

// The table of what the programs really do, block by block, with the recorded order of each rank.
Schedule schedule_of(const RunSpec& spec, const StagePlacement& placement, int32_t micro_batches) {
  Schedule schedule{{}, placement, micro_batches, true};
  for (int rank = 0; rank < spec.parallel.pp; ++rank) {
    const Compiled compiled = compile(spec, {.rank = rank});
    walk(compiled.program);
    std::vector<ScheduleStep>& rows = schedule.table.emplace_back();
    for (const Action& action : find_timeline(compiled.program, "train")->actions) {
      const std::map<ActionKind, StepKind> kinds = {{ActionKind::forward, StepKind::forward},
                                                    {ActionKind::backward, StepKind::backward},
                                                    {ActionKind::backward_input, StepKind::backward_input},
                                                    {ActionKind::backward_weight, StepKind::backward_weight}};
      const auto kind = kinds.find(action.kind);
      if (kind == kinds.end()) continue;
      const std::string& name = compiled.program.unit(action.unit).name;
      if (!name.starts_with("layers.")) continue;  // one layer per stage: its steps stand for the stage's
      rows.push_back({std::stoi(name.substr(7)), kind->second, action.micro_batch});
    }
  }
  return schedule;
}

struct Bubble {
  const char* schedule;
  int64_t virtual_stages;
  // Of the rank that waits least, in the schedule's published units (p ranks, v stages per rank).
  int64_t (*published)(int64_t p, int64_t v, int64_t f, int64_t b, int64_t w);
};

// A backward that is cut costs input + weight = b.
TEST(PipelineEngine, BubblesAreThePublishedOnes) {
  constexpr int64_t p = 4, m = 8, f = 3, i = 3, w = 2, b = i + w;
  const Bubble bubbles[] = {
      {"gpipe", 1, [](int64_t p, int64_t, int64_t f, int64_t b, int64_t) { return (p - 1) * (f + b); }},
      {"1f1b", 1, [](int64_t p, int64_t, int64_t f, int64_t b, int64_t) { return (p - 1) * (f + b); }},
      {"interleaved", 2, [](int64_t p, int64_t, int64_t f, int64_t b, int64_t) { return (p - 1) * (f + b); }},
      // Qi et al. 2024, table 1, b here input and weight together: (p-1)(F + B - 2W) with B the input part.
      {"zb_h1", 1,
       [](int64_t p, int64_t, int64_t f, int64_t b, int64_t w) { return (p - 1) * (f + (b - w) - w); }},
  };
  for (const Bubble& bubble : bubbles) {
    const int64_t stages = p * bubble.virtual_stages;
    std::string list;
    for (int64_t s = 0; s < stages; ++s) list += s == 0 ? "1" : ", 1";
    const RunSpec spec = parse_config(
        fmt::format(
            "[model]\nfamily = \"gpt2\"\nlayers = {}\nwidth = 32\nheads = 2\nvocab = 65\ncontext = 16\n"
            "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = 1\n"
            "[parallel]\npp = {}\nschedule = \"{}\"\nvirtual_stages = {}\nstages = [{}]\n"
            "[optimizer]\nlr = 1e-4\n[run]\nname = \"t\"\nsteps = 10\ndevice = \"null\"\n",
            stages, m, p, bubble.schedule, bubble.virtual_stages, list),
        "bubble");
    const Schedule published = make_schedule(
        bubble.schedule, {static_cast<int32_t>(p), static_cast<int32_t>(bubble.virtual_stages), m});
    const Simulation simulation =
        simulate(schedule_of(spec, published.placement, m), {.forward = f, .input = i, .weight = w});
    ASSERT_EQ(simulation.deadlock, "");
    // In units of a stage: interleaved stages are 1/v as long, so this is the whole over v.
    for (int32_t rank = 0; rank < p; ++rank)
      EXPECT_EQ(simulation.bubble(rank), bubble.published(p, bubble.virtual_stages, f, b, w))
          << bubble.schedule << " rank " << rank;
  }
}

}  // namespace
}  // namespace trireme
