// Programs of 512 ranks that cut the pipeline, the data and the inside of every layer: compiled, checked
// against each other and walked on the null device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "compile/compile.h"
#include "engine/null_walk.h"
#include "lower/check.h"
#include "lower/check_ranks.h"

namespace trireme {
namespace {

struct Mesh512 {
  const char* parallel;  // keys that multiply to 512 ranks
  int64_t data_parallel;
  bool experts = false;
};

// A new way of cutting is a line here.
constexpr Mesh512 kMeshes[] = {
    {"pp = 8\ndp_shard = 8\ntp = 8\nzero = 1", 8},
    {"pp = 8\ndp_replicate = 2\ndp_shard = 4\ntp = 8\nzero = 3\nsequence = false\nschedule = \"zb_h1\"", 8},
    {"pp = 8\ndp_shard = 8\ntp = 4\ncp = 2\nzero = 2\ncp_mode = \"ulysses\"", 8},
    {"pp = 8\ndp_shard = 64\nep = 64\nzero = 1", 64, true},
    {"pp = 4\ndp_shard = 32\ncp = 2\ntp = 2\nep = 64\netp = 1\nzero = 3\nschedule = \"dualpipev\"", 32, true},
};

constexpr const char* kGpt2 =
    "family = \"gpt2\"\nlayers = 16\nwidth = 1024\nheads = 16\nvocab = 50257\ncontext = 1024\n";
// DeepSeek in small: latent attention, 256 experts.
constexpr const char* kDeepseek =
    "family = \"deepseek\"\nlayers = 16\nwidth = 1024\nheads = 16\nffn = 4096\nvocab = 50257\ncontext = "
    "1024\n"
    "[model.mla]\nq_rank = 512\nkv_rank = 256\nnope_dim = 64\nrope_dim = 32\nv_dim = 64\n"
    "[moe]\nexperts = 256\ntop_k = 8\nexpert_ffn = 512\nshared_ffn = 512\nfirst_dense = 2\nscore = "
    "\"sigmoid\"\n"
    "groups = 8\ntop_groups = 4\nreceive_factor = 1.5\n";

// 16 layers. The vocabulary is no multiple of tp: the last rank's part of it has padding.
RunSpec spec_of(const Mesh512& mesh) {
  constexpr int64_t kMicroBatches = 16;
  return parse_config(
      fmt::format("[model]\n{}[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = 1\n"
                  "[parallel]\n{}\n[optimizer]\nlr = 1e-4\n[run]\nname = \"large\"\nsteps = 10\n"
                  "device = \"null\"\n",
                  mesh.experts ? kDeepseek : kGpt2, kMicroBatches * mesh.data_parallel, mesh.parallel),
      "512");
}

TEST(BlockAxesEngine, RanksOf512) {
  for (const Mesh512& mesh : kMeshes) {
    SCOPED_TRACE(mesh.parallel);
    const RunSpec spec = spec_of(mesh);
    ASSERT_EQ(mesh_of(spec).ranks(), 512);
    double seconds = 0, checked = 0;
    int64_t largest = 0;
    const int per_stage = mesh_of(spec).ranks_per_stage();
    for (const int place : {0, 29, per_stage - 1}) {  // in each stage of a pipeline
      std::vector<Program> pipeline;
      for (int first = 0; first < 512; first += per_stage) {
        const double start = thread_seconds_now();
        pipeline.push_back(compile(spec, {.rank = first + place, .threads = 8}).program);
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
               mesh.parallel, 1e3 * seconds / (3.0 * static_cast<double>(spec.parallel.pp)),
               1e3 * checked / 3, static_cast<double>(largest) / 1e9);
  }
}

}  // namespace
}  // namespace trireme
