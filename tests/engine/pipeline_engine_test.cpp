// Pipelines on the null device: a rank among sixteen thousand, and what the walk of all ranks shows of each
// schedule's bubble.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

#include "base/clock.h"
#include "compile/compile.h"
#include "engine/null_walk.h"
#include "schedule/catalog.h"
#include "schedule/simulate.h"

namespace trireme {
namespace {

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
      const double start = thread_seconds_now();
      const Compiled compiled = compile(spec, {.rank = rank, .threads = 8});
      const double seconds = thread_seconds_now() - start;
      fmt::print("rank {} of {}, zero {}: {} actions, {:.2f} GB, compiled in {:.3f} s of CPU time\n", rank,
                 all_ranks(spec), zero, compiled.program.timelines[0].actions.size(),
                 static_cast<double>(compiled.program.memory.arena_bytes) / 1e9, seconds);
      walk(compiled.program);
    }
  }
}

// What a program really does, as rows of a schedule: there is one layer per stage, whose steps stand for the
// stage's. A whole backward whose code comes in two parts runs both before its gradient is sent.
std::vector<ScheduleStep> rows_of(const Program& program) {
  const std::map<ActionKind, StepKind> kinds = {{ActionKind::forward, StepKind::forward},
                                                {ActionKind::backward, StepKind::backward},
                                                {ActionKind::backward_input, StepKind::backward_input},
                                                {ActionKind::backward_weight, StepKind::backward_weight}};
  std::vector<ScheduleStep> rows;
  bool sent = true;
  for (const Action& action : find_timeline(program, "train")->actions) {
    if (action.kind == ActionKind::send_grad) sent = true;
    const auto kind = kinds.find(action.kind);
    if (kind == kinds.end() || !program.unit(action.unit).name.starts_with("layers.")) continue;
    const ScheduleStep row{std::stoi(program.unit(action.unit).name.substr(7)), kind->second,
                           action.micro_batch};
    if (!sent && row.kind == StepKind::backward_weight &&
        rows.back() == ScheduleStep{row.stage, StepKind::backward_input, row.micro_batch})
      rows.back().kind = StepKind::backward;
    else
      rows.push_back(row);
    sent = false;
  }
  return rows;
}

// The first stage sends no gradient, so there an input part with its weight part right behind is a whole.
std::vector<ScheduleStep> without_parts_of_the_first_stage(const std::vector<ScheduleStep>& rows) {
  std::vector<ScheduleStep> whole;
  for (const ScheduleStep& row : rows)
    if (row.kind == StepKind::backward_weight && row.stage == 0 && !whole.empty() &&
        whole.back() == ScheduleStep{0, StepKind::backward_input, row.micro_batch})
      whole.back().kind = StepKind::backward;
    else
      whole.push_back(row);
  return whole;
}

// Walks all ranks on the null device and returns what they did, with the pairs that run at once (which a
// program, that does one thing after the other, does not show) as the schedule has them.
Schedule walked(const RunSpec& spec, const Schedule& schedule) {
  Schedule done = schedule;
  for (int rank = 0; rank < spec.parallel.pp; ++rank) {
    const Compiled compiled = compile(spec, {.rank = rank});
    walk(compiled.program);
    std::vector<ScheduleStep>& rows = done.table[static_cast<size_t>(rank)];
    const std::vector<ScheduleStep> planned = std::exchange(rows, rows_of(compiled.program));
    for (size_t i = 0; i < rows.size() && i < planned.size(); ++i) rows[i].with_next = planned[i].with_next;
  }
  return done;
}

// Units of time of a stage: forward, whole backward, its weight part.
struct Units {
  int64_t p = 4, F = 3, B = 5, W = 2;  // F = B - W, as the formulas of DualPipe have it
};

struct Bubble {
  const char* schedule;
  int64_t virtual_stages;
  int64_t (*published)(const Units&);
};

// Of the rank that waits most. Interleaved: (p-1)(F+B)/v of stages v times as large. ZB1P and DualPipe:
// DeepSeek-V3's table 2, where an overlapped forward and backward here take as long as one after the other;
// DualPipeV's p are its stages.
constexpr Bubble kBubbles[] = {
    {"gpipe", 1, [](const Units& u) { return (u.p - 1) * (u.F + u.B); }},
    {"1f1b", 1, [](const Units& u) { return (u.p - 1) * (u.F + u.B); }},
    {"interleaved", 2, [](const Units& u) { return (u.p - 1) * (u.F + u.B); }},
    {"zb_h1", 1, [](const Units& u) { return (u.p - 1) * (u.F + u.B - 2 * u.W); }},
    {"dualpipe", 1, [](const Units& u) { return (u.p / 2 - 1) * (u.F + u.B + u.B - 3 * u.W); }},
    {"dualpipev", 2, [](const Units& u) { return (u.p - 1) * (u.F + u.B + u.B - 3 * u.W); }},
};

TEST(PipelineEngine, BubblesAreThePublishedOnes) {
  constexpr Units units;
  constexpr int32_t micro_batches = 8;
  for (const Bubble& bubble : kBubbles) {
    SCOPED_TRACE(bubble.schedule);
    const ScheduleInput input{static_cast<int32_t>(units.p), static_cast<int32_t>(bubble.virtual_stages),
                              micro_batches};
    Schedule schedule = make_schedule(bubble.schedule, input);
    for (auto& rows : schedule.table) rows = without_parts_of_the_first_stage(rows);
    const int32_t stages = schedule.placement.stages();
    const std::vector<int> one_layer_each(static_cast<size_t>(stages), 1);
    const RunSpec spec = parse_config(
        fmt::format(
            "[model]\nfamily = \"gpt2\"\nlayers = {}\nwidth = 32\nheads = 2\nvocab = 65\ncontext = 16\n"
            "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = 1\n"
            "[parallel]\npp = {}\nschedule = \"{}\"\nvirtual_stages = {}\nstages = [{}]\n"
            "[optimizer]\nlr = 1e-4\n[run]\nname = \"t\"\nsteps = 10\ndevice = \"null\"\n",
            stages, micro_batches, units.p, bubble.schedule, bubble.virtual_stages,
            fmt::join(one_layer_each, ", ")),
        "bubble");
    const StepCosts costs{.forward = units.F, .input = units.B - units.W, .weight = units.W};
    const Schedule done = walked(spec, schedule);
    EXPECT_EQ(to_text(done.table), to_text(schedule.table));
    const Simulation run = simulate(done, costs);
    ASSERT_EQ(run.deadlock, "");
    int64_t most = 0;
    for (int32_t rank = 0; rank < units.p; ++rank) most = std::max(most, run.bubble(rank));
    EXPECT_EQ(most, bubble.published(units));
  }
}

}  // namespace
}  // namespace trireme
