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

}  // namespace
}  // namespace trireme
