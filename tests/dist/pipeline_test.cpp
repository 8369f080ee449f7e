// Pipelines change no bit: losses, grad norms, evaluation, weights and moments of ten steps, under every
// schedule, tied and untied, alone and with data parallelism.
#include <gtest/gtest.h>

#include "dist/layout_run.h"
#include "schedule/catalog.h"

namespace trireme {
namespace {

using test::expect_same;
using test::Layout;
using test::name_of;
using test::run_layout;
using test::RunForm;
using test::Trace;

void expect_all_same(const RunForm& form, const std::vector<Layout>& layouts) {
  SCOPED_TRACE(form.family + " " + form.compute);
  std::map<int64_t, Trace> one;  // by lanes
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(name_of(layout));
    const auto [it, fresh] = one.try_emplace(layout.lanes);
    if (fresh) it->second = run_layout(form, {.lanes = layout.lanes});
    EXPECT_LT(it->second.loss.back(), it->second.loss.front()) << "it learns";
    expect_same(run_layout(form, layout), it->second);
  }
}

std::vector<Layout> schedules_at(int64_t pp, int64_t lanes) {
  std::vector<Layout> layouts;
  for (const ScheduleDef& def : schedules())
    layouts.push_back({.lanes = lanes,
                       .pp = pp,
                       .schedule = std::string(def.name),
                       .virtual_stages = def.least_stages_per_rank});
  return layouts;
}

TEST(PipelineBits, EveryScheduleOnTwoRanks) {
  for (const char* family : {"gpt2", "llama"})
    for (const char* compute : {"fp32", "bf16"})
      expect_all_same({.family = family, .compute = compute, .layers = 4}, schedules_at(2, 2));
}

TEST(PipelineBits, EveryScheduleOnFourRanks) {
  for (const char* family : {"gpt2", "llama"})
    expect_all_same({.family = family, .compute = "bf16", .layers = 6}, schedules_at(4, 8));
}

TEST(PipelineBits, FiveLayersOnTwoAndThreeRanks) {
  for (const char* family : {"gpt2", "llama"})
    expect_all_same({.family = family, .compute = "bf16", .sequences = 12, .layers = 5},
                    {{.lanes = 1, .pp = 2},
                     {.lanes = 1, .pp = 3},
                     {.lanes = 1, .pp = 3, .schedule = "gpipe"},
                     {.lanes = 1, .pp = 3, .schedule = "interleaved", .virtual_stages = 2},
                     {.lanes = 1, .pp = 3, .schedule = "zb_h1"},
                     {.lanes = 1, .pp = 3, .schedule = "zbv", .virtual_stages = 2}});
}

TEST(PipelineBits, WithDataParallelism) {
  for (const char* family : {"gpt2", "llama"})
    for (const int64_t zero : {0, 1, 2, 3})
      expect_all_same({.family = family, .compute = "bf16", .layers = 4},
                      {{.replicate = zero == 0 ? 2 : 1, .shard = zero == 0 ? 1 : 2, .zero = zero, .pp = 2},
                       {.replicate = zero == 0 ? 2 : 1,
                        .shard = zero == 0 ? 1 : 2,
                        .zero = zero,
                        .pp = 2,
                        .schedule = "dualpipe"},
                       {.replicate = zero == 0 ? 2 : 1,
                        .shard = zero == 0 ? 1 : 2,
                        .zero = zero,
                        .pp = 2,
                        .schedule = "zbv",
                        .virtual_stages = 2}});
}

TEST(PipelineBits, ARunMayChangeItsPipelineInTheMiddle) {
  for (const char* family : {"gpt2", "llama"}) {
    const RunForm form{.family = family, .compute = "bf16", .layers = 4};
    const Trace whole = run_layout(form, {});
    const Trace first = run_layout(form, {.pp = 4}, {0, 4, {}});
    Trace second =
        run_layout(form, {.shard = 2, .zero = 2, .pp = 2, .schedule = "zb_h1"}, {4, 7, {}}, &first);
    Trace third =
        run_layout(form, {.pp = 2, .schedule = "dualpipev", .virtual_stages = 2}, {7, 10, {}}, &second);
    for (Trace* part : {&second, &third}) {
      const Trace& before = part == &second ? first : second;
      part->loss.insert(part->loss.begin(), before.loss.begin(), before.loss.end());
      part->grad_norm.insert(part->grad_norm.begin(), before.grad_norm.begin(), before.grad_norm.end());
    }
    expect_same(third, whole);
  }
}

}  // namespace
}  // namespace trireme
