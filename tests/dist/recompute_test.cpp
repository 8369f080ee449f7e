// Recomputation changes no bit of a run: losses, grad norms, evaluation, weights, moments and the counters of
// routers, under every layout.
#include <gtest/gtest.h>

#include <numeric>

#include "dist/parity_forms.h"
#include "io/store/directory_store.h"
#include "schedule/catalog.h"
#include "scratch_folder.h"

namespace trireme::test {
namespace {

const Span kSteps{0, 3, {}};

// Under each layout, against what is kept there.
void expect_no_change(const RunForm& form, const std::vector<Layout>& layouts) {
  for (Layout layout : layouts) {
    layout.recompute = "none";
    const Trace kept = run_layout(form, layout, kSteps);
    ASSERT_EQ(kept.loss.size(), 3u);
    for (const char* recompute : {"selective", "full"}) {
      layout.recompute = recompute;
      SCOPED_TRACE(form.family + " " + form.compute + ", " + name_of(layout));
      expect_same(run_layout(form, layout, kSteps), kept);
    }
  }
}

RunForm in_bf16(RunForm form) {
  form.compute = "bf16";
  return form;
}

TEST(RecomputeBits, OnDataParallelRanks) {
  for (const RunForm& form : {gpt2_form(), llama_form(), in_bf16(gpt2_form()), in_bf16(llama_form())})
    expect_no_change(form, {{},
                            {.replicate = 2},
                            {.shard = 2, .zero = 1},
                            {.shard = 2, .zero = 2, .lanes = 2, .each_micro_batch = true},
                            {.shard = 4, .zero = 3},
                            {.shard = 2, .zero = 3, .reshard = false}});
}

TEST(RecomputeBits, UnderEverySchedule) {
  for (const char* family : {"gpt2", "llama"}) {
    const RunForm form{.family = family, .compute = "bf16", .layers = 4, .documents = true};
    for (const ScheduleDef& def : schedules())
      expect_no_change(form, {{.lanes = 2,
                               .pp = 2,
                               .schedule = std::string(def.name),
                               .virtual_stages = def.least_stages_per_rank}});
    expect_no_change(form, {{.shard = 2, .zero = 3, .pp = 2, .schedule = "zb_h1"},
                            {.shard = 2, .zero = 3, .pp = 2, .schedule = "dualpipe"}});
  }
}

TEST(RecomputeBits, InsideLayers) {
  for (const RunForm& form : {in_bf16(gpt2_form()), in_bf16(llama_form())}) {
    expect_no_change(form, {{.lanes = 1, .tp = 2},
                            {.lanes = 1, .tp = 2, .sequence = false},
                            {.lanes = 1, .tp = 2, .tp_chunks = 2},
                            {.lanes = 1, .pp = 2, .schedule = "zb_h1", .tp = 2, .tp_chunks = 2},
                            {.shard = 2, .zero = 3, .lanes = 2, .tp = 2, .cp = 2}});
    for (const char* mode : {"ring", "allgather", "ulysses"})
      expect_no_change(form, {{.lanes = 1, .cp = 2, .cp_mode = mode}});
  }
}

TEST(RecomputeBits, OfExpertsAndLatentAttention) {
  RunForm mtp = deepseek_form();
  mtp.more = "mtp = 1\n" + mtp.more;
  for (const RunForm& form : {mixtral_form(), deepseek_form(), in_bf16(mtp)})
    expect_no_change(form, {{},
                            {.shard = 2, .zero = 3, .lanes = 2, .ep = 2},
                            {.lanes = 1, .tp = 2},
                            {.shard = 2, .zero = 1, .lanes = 2, .tp = 2, .ep = 2, .etp = 2},
                            {.lanes = 1, .cp = 2, .ep = 2},
                            {.shard = 2, .zero = 2, .lanes = 2, .pp = 2, .schedule = "zb_h1", .ep = 2}});
  RunForm rounds = mixtral_form();  // more rows arrive than there is room for
  rounds.more += "\nreceive_factor = 0.5";
  expect_no_change(rounds, {{.shard = 2, .zero = 1, .lanes = 2, .ep = 2}});
}

// A router's choices count once, in backward, however often they are made.
TEST(RecomputeBits, RoutersCountOnce) {
  constexpr double kStepTokens = 16 * 16;
  for (const char* recompute : {"none", "selective", "full"}) {
    const Trace trace = run_layout(mixtral_form(), {.recompute = recompute}, {0, 2, {}});
    const std::vector<float>& last = trace.state.at("moment1/layers.1.moe.balance");
    EXPECT_EQ(std::accumulate(last.begin(), last.end(), 0.0), 2 * kStepTokens) << recompute;
  }
}

// It may change when a run is resumed.
TEST(RecomputeBits, ACheckpointGoesOnUnderAnother) {
  const RunForm form = mixtral_form();
  const ScratchFolder folder;
  const auto store = open_directory_store(folder / "run");
  const Trace whole = run_layout(form, {}, {0, 6, {}});
  run_layout(form, {.shard = 2, .zero = 3, .recompute = "full"}, {.begin = 0, .end = 3, .to = store.get()});
  const Trace rest =
      run_layout(form, {.pp = 2, .recompute = "selective"}, {.begin = 3, .end = 6, .from = store.get()});
  Trace expected = whole;
  expected.loss.erase(expected.loss.begin(), expected.loss.begin() + 3);
  expected.grad_norm.erase(expected.grad_norm.begin(), expected.grad_norm.begin() + 3);
  expect_same(rest, expected);
}

}  // namespace
}  // namespace trireme::test
