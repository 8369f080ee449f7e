// Cutting the inside of a layer over ranks changes the order of sums and nothing else: losses and grad norms
// of ten steps, and the weights after three, against one rank.
#include <gtest/gtest.h>

#include "dist/layout_run.h"

namespace trireme {
namespace {

using test::expect_close;
using test::expect_close_weights;
using test::Layout;
using test::name_of;
using test::run_layout;
using test::RunForm;
using test::Trace;

// AdamW moves a weight by lr whatever the size of its gradient, so noise in one near zero is seen times lr.
const RunForm kGpt2{.family = "gpt2", .micro = 2, .lr = 1e-3};
const RunForm kLlama{.family = "llama", .micro = 2, .lr = 1e-3};

void expect_parity(const RunForm& form, const std::vector<Layout>& layouts) {
  SCOPED_TRACE(form.family);
  const Layout alone{.lanes = 1};
  const Trace one = run_layout(form, alone), three = run_layout(form, alone, {0, 3, {}});
  ASSERT_EQ(one.loss.size(), 10u);
  EXPECT_LT(one.loss.back(), one.loss.front()) << "it learns";
  for (Layout layout : layouts) {
    layout.lanes = layout.replicate * layout.shard;
    SCOPED_TRACE(name_of(layout));
    expect_close(run_layout(form, layout), one);
    expect_close_weights(run_layout(form, layout, {0, 3, {}}), three);
  }
}

TEST(Parity, TensorParallel) {
  const std::vector<Layout> layouts = {{.tp = 2}, {.tp = 2, .sequence = false}};
  expect_parity(kGpt2, layouts);
  expect_parity(kLlama, layouts);
  expect_parity(kGpt2, {{.tp = 4}, {.tp = 4, .sequence = false}});
}

TEST(Parity, TensorAndDataParallel) {
  for (int64_t zero = 0; zero < 4; ++zero) {
    expect_parity(kGpt2, {{.shard = 2, .zero = zero, .tp = 2}});
    expect_parity(kLlama, {{.replicate = 2, .shard = 2, .zero = zero, .tp = 2, .sequence = false}});
  }
}

TEST(Parity, TensorParallelInPipelines) {
  expect_parity(kGpt2, {{.pp = 2, .tp = 2}, {.pp = 2, .schedule = "zb_h1", .tp = 2, .sequence = false}});
  expect_parity(kLlama, {{.shard = 2, .zero = 3, .pp = 2, .schedule = "zb_h1", .tp = 2}});
}

TEST(Parity, ContextParallel) {
  for (const char* mode : {"ring", "allgather", "ulysses"}) {
    expect_parity(kGpt2, {{.cp = 2, .cp_mode = mode}, {.cp = 4, .cp_mode = mode}});
    expect_parity(kLlama, {{.cp = 2, .cp_mode = mode}, {.shard = 2, .zero = 3, .cp = 2, .cp_mode = mode}});
  }
}

TEST(Parity, ContextParallelWithWindowsAndDocuments) {
  RunForm form = kLlama;
  form.more = "window = 7";
  for (const bool documents : {false, true}) {
    form.documents = documents;
    for (const char* mode : {"ring", "allgather", "ulysses"})
      expect_parity(form, {{.cp = 2, .cp_mode = mode}});
  }
}

TEST(Parity, EveryAxisAtOnce) {
  for (const char* mode : {"ring", "allgather"}) {
    expect_parity(kGpt2, {{.shard = 2, .zero = 2, .pp = 2, .tp = 2, .cp = 2, .cp_mode = mode}});
    expect_parity(
        kLlama,
        {{.replicate = 2, .shard = 1, .pp = 2, .tp = 2, .sequence = false, .cp = 2, .cp_mode = mode}});
  }
  expect_parity(kGpt2, {{.tp = 2, .cp = 2, .cp_mode = "ulysses"}});
}

const RunForm kMixtral{.family = "llama",
                       .micro = 2,
                       .lr = 1e-3,
                       .more =
                           "[moe]\nexperts = 4\ntop_k = 2\nexpert_ffn = 48\n"
                           "softmax_order = \"after\"\naux_loss = 0.02\nz_loss = 0.001"};
const RunForm kDeepseek{
    .family = "deepseek",
    .micro = 2,
    .lr = 1e-3,
    .more =
        "[model.mla]\nq_rank = 24\nkv_rank = 16\nnope_dim = 8\nrope_dim = 4\nv_dim = 8\n"
        "[moe]\nexperts = 8\ntop_k = 2\nexpert_ffn = 24\nshared_ffn = 48\nfirst_dense = 1\n"
        "score = \"sigmoid\"\ngroups = 4\ntop_groups = 2\nnormalize = true\nscale = 2.5"};

TEST(Parity, ExpertsUnderEveryOtherAxis) {
  for (const RunForm& form : {kMixtral, kDeepseek})
    expect_parity(form, {{.replicate = 2},
                         {.shard = 2, .zero = 3},
                         {.pp = 2},
                         {.tp = 2},
                         {.tp = 2, .sequence = false},
                         {.tp = 2, .etp = 2},
                         {.tp = 2, .sequence = false, .etp = 2},
                         {.cp = 2}});
}

TEST(Parity, ExpertParallel) {
  for (const RunForm& form : {kMixtral, kDeepseek}) {
    for (int64_t zero = 0; zero < 4; ++zero) expect_parity(form, {{.shard = 4, .zero = zero, .ep = 2}});
    expect_parity(form, {{.shard = 2, .ep = 2},
                         {.shard = 4, .ep = 4},
                         {.replicate = 2, .shard = 2, .zero = 2, .ep = 2},
                         {.shard = 2, .zero = 1, .pp = 2, .ep = 2},
                         {.shard = 2, .tp = 2, .ep = 2},
                         {.shard = 2, .tp = 2, .ep = 2, .etp = 2},
                         {.cp = 2, .ep = 2},
                         {.shard = 2, .zero = 3, .cp = 2, .ep = 4}});
  }
}

}  // namespace
}  // namespace trireme
