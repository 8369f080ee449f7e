// Programs of 512 ranks that cut the pipeline, the data and the inside of every layer: compiled, checked
// against each other and walked on the null device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "compile/compile.h"
#include "device/null/null_device.h"
#include "engine/engine.h"
#include "lower/check.h"
#include "lower/check_ranks.h"

namespace trireme {
namespace {

struct Run512 {
  const char* model;     // family, and sections of its own
  const char* parallel;  // keys that multiply to 512 ranks
  int64_t data_parallel;
};

// GPT-2's vocabulary is no multiple of tp: the last rank's part of it has padding.
constexpr const char* kGpt2 = "family = \"gpt2\"\nvocab = 50257\n";
constexpr const char* kExperts = "family = \"llama\"\nvocab = 32000\n[moe]\nexperts = 64\nexpert_ffn = 512\n";

// A new way of cutting is a line here.
constexpr Run512 kRuns[] = {
    {kGpt2, "pp = 8\ndp_shard = 8\ntp = 8\nzero = 1", 8},
    {kGpt2,
     "pp = 8\ndp_replicate = 2\ndp_shard = 4\ntp = 8\nzero = 3\nsequence = false\nschedule = \"zb_h1\"", 8},
    {kGpt2, "pp = 8\ndp_shard = 8\ntp = 4\ncp = 2\nzero = 2\ncp_mode = \"ulysses\"", 8},
    {kExperts, "pp = 8\ndp_shard = 64\nep = 64\nzero = 1", 64},
    {kExperts, "pp = 8\ndp_shard = 32\ncp = 2\nep = 64\nzero = 3", 32},
};

// Of 16 layers.
RunSpec spec_of(const Run512& run) {
  constexpr int64_t kMicroBatches = 16;
  return parse_config(
      fmt::format("[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = 1\n"
                  "[parallel]\n{}\n[optimizer]\nlr = 1e-4\n[run]\nname = \"large\"\nsteps = 10\n"
                  "device = \"null\"\n[model]\nlayers = 16\nwidth = 1024\nheads = 16\ncontext = 1024\n{}",
                  kMicroBatches * run.data_parallel, run.parallel, run.model),
      "512");
}

void walk(const Program& program) {
  const auto device = make_null_device();
  Engine engine(program, *device);
  const Timeline& train = *find_timeline(program, "train");
  const BatchArrays nothing(program.batch.size());
  engine.run(train, std::vector<BatchArrays>(static_cast<size_t>(train.micro_batches), nothing));
}

TEST(BlockAxesEngine, RanksOf512) {
  for (const Run512& run : kRuns) {
    SCOPED_TRACE(run.parallel);
    const RunSpec spec = spec_of(run);
    ASSERT_EQ(mesh_of(spec).ranks(), 512);
    double seconds = 0, checked = 0;
    int64_t largest = 0;
    for (const int place : {0, 29, 63}) {  // in each stage of a pipeline
      std::vector<Program> pipeline;
      for (int stage = 0; stage < 8; ++stage) {
        const double start = thread_seconds_now();
        pipeline.push_back(compile(spec, {.rank = stage * 64 + place, .threads = 8}).program);
        seconds += thread_seconds_now() - start;
        largest = std::max(largest, pipeline.back().memory.arena_bytes);
        check_program(pipeline.back());
        walk(pipeline.back());
      }
      const double start = thread_seconds_now();
      EXPECT_EQ(find_rank_fault(pipeline), "") << "at place " << place;
      checked += thread_seconds_now() - start;
    }
    fmt::print("{:?}: {:.2f} ms of CPU time per program, {:.2f} ms per pipeline's proof, {:.2f} GB at most\n",
               run.parallel, 1e3 * seconds / 24, 1e3 * checked / 3, static_cast<double>(largest) / 1e9);
  }
}

}  // namespace
}  // namespace trireme
