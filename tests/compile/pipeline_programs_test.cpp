// Programs of all ranks of a pipeline: together they do what one rank does, come to their end, and hold the
// memory that the schedule's theory promises.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compile/specs.h"
#include "ir/text.h"
#include "lower/check_ranks.h"
#include "schedule/catalog.h"

namespace trireme {
namespace {

struct Layout {
  std::string schedule;
  int64_t pp = 2, virtual_stages = 1, layers = 6, micro_batches = 8, dp_shard = 1, zero = 0;
  std::string family = "gpt2";
};

std::string name_of(const Layout& layout) {
  return fmt::format("{} {} pp {} x {} layers {} mb {} dp_shard {} zero {}", layout.family, layout.schedule,
                     layout.pp, layout.virtual_stages, layout.layers, layout.micro_batches, layout.dp_shard,
                     layout.zero);
}

RunSpec spec_of(const Layout& l) {
  return parse_config(
      fmt::format("[model]\nfamily = \"{}\"\nlayers = {}\nwidth = 32\nheads = 2\nvocab = 65\ncontext = 16\n"
                  "[data]\ntrain = [\"unused.bin\"]\n"
                  "[batch]\nsequences = {}\nmicro = 1\n[optimizer]\nlr = 1e-3\n"
                  "[parallel]\npp = {}\nschedule = \"{}\"\nvirtual_stages = {}\ndp_shard = {}\nzero = {}\n"
                  "[run]\nname = \"a run\"\nsteps = 10\n",
                  l.family, l.layers, l.micro_batches * l.dp_shard, l.pp, l.schedule, l.virtual_stages,
                  l.dp_shard, l.zero),
      "layout");
}

std::vector<Program> programs_of(const Layout& layout) {
  const RunSpec spec = spec_of(layout);
  std::vector<Program> programs;
  for (int rank = 0; rank < layout.pp * layout.dp_shard; ++rank)
    programs.push_back(compile(spec, {.rank = rank, .eval_micro_batches = spec.batch.lanes * 2}).program);
  return programs;
}

std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts;
  for (const ScheduleDef& def : schedules())
    for (const int64_t pp : {2, 4}) {
      const auto stages = std::max<int64_t>(def.least_stages_per_rank, 1);
      layouts.push_back({.schedule = std::string(def.name), .pp = pp, .virtual_stages = stages});
      layouts.push_back(
          {.schedule = std::string(def.name), .pp = pp, .virtual_stages = stages, .family = "llama"});
      layouts.push_back({.schedule = std::string(def.name),
                         .pp = pp,
                         .virtual_stages = stages,
                         .dp_shard = 2,
                         .zero = pp == 2 ? 2 : 1});
      layouts.push_back(
          {.schedule = std::string(def.name), .pp = pp, .virtual_stages = stages, .dp_shard = 2, .zero = 3});
    }
  layouts.push_back({.schedule = "1f1b", .pp = 3, .layers = 5});
  layouts.push_back({.schedule = "interleaved", .pp = 2, .virtual_stages = 4, .layers = 7});
  return layouts;
}

TEST(Pipeline, RanksComeToTheirEndTogether) {
  for (const Layout& layout : all_layouts()) {
    SCOPED_TRACE(name_of(layout));
    EXPECT_EQ(find_rank_fault(programs_of(layout)), "");
  }
}

TEST(Pipeline, EveryBlockRunsEveryMicroBatchOnce) {
  for (const Layout& layout : all_layouts()) {
    SCOPED_TRACE(name_of(layout));
    std::map<std::string, std::multiset<int>> forward;
    for (const Program& program : programs_of(layout)) {
      if (program.rank % layout.dp_shard != 0) continue;
      for (const Action& action : find_timeline(program, "train")->actions)
        if (action.kind == ActionKind::forward)
          forward[program.unit(action.unit).name].insert(action.micro_batch);
    }
    EXPECT_EQ(forward.size(), static_cast<size_t>(layout.layers) + 2);
    for (const auto& [block, micro_batches] : forward) {
      EXPECT_EQ(micro_batches.size(), static_cast<size_t>(layout.micro_batches)) << block;
      EXPECT_EQ(std::set(micro_batches.begin(), micro_batches.end()).size(), micro_batches.size()) << block;
    }
  }
}

TEST(Pipeline, ProgramsParseBackEqual) {
  for (const char* schedule : {"1f1b", "zbv", "dualpipe"})
    for (const Program& program :
         programs_of({.schedule = schedule, .virtual_stages = schedule == std::string("zbv") ? 2 : 1}))
      EXPECT_TRUE(parse_program(to_text(program)) == program) << schedule;
}

// Saved activations alive at once, in units of one micro-batch on one stage.
TEST(Pipeline, ActivationsInFlight) {
  const auto most_saved = [](const Program& program) {
    std::map<int32_t, int> change;  // by action: saved buffers of one layer that begin or end
    for (const Buffer& buffer : program.memory.buffers)
      if (buffer.cls == BufferClass::saved && buffer.timeline == 0 && buffer.name.starts_with("layers.")) {
        ++change[buffer.first.index];
        --change[buffer.last.index + 1];
      }
    int alive = 0, most = 0;
    for (const auto& [action, by] : change) most = std::max(most, alive += by);
    return most;
  };
  // One layer per stage: 4 stages, 8 micro-batches.
  const auto programs = [](const char* schedule) {
    RunSpec spec = spec_of({.schedule = schedule, .pp = 4, .layers = 4});
    spec.parallel.stages = {1, 1, 1, 1};
    std::vector<int> most;
    for (int rank = 0; rank < 4; ++rank) most.push_back(0);
    return std::pair(spec, most);
  };
  auto [gpipe, most] = programs("gpipe");
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(most_saved(compile(gpipe, {.rank = rank}).program), 8) << rank;
  auto [one, none] = programs("1f1b");
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(most_saved(compile(one, {.rank = rank}).program), 4 - rank) << rank;
  auto [dual, no] = programs("dualpipe");
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_LE(most_saved(compile(dual, {.rank = rank}).program), 4 + 1) << rank;
}

}  // namespace
}  // namespace trireme
