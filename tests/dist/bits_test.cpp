// Data parallelism changes no bit: losses, grad norms, evaluation, weights and moments of ten steps.
#include <gtest/gtest.h>

#include "dist/layout_run.h"

namespace trireme {
namespace {

using test::expect_same;
using test::Layout;
using test::name_of;
using test::run_layout;
using test::RunForm;
using test::Trace;

const std::vector<RunForm>& forms() {
  static const std::vector<RunForm> all = {{.family = "gpt2", .compute = "fp32"},
                                           {.family = "gpt2", .compute = "bf16"},
                                           {.family = "llama", .compute = "fp32"},
                                           {.family = "llama", .compute = "bf16"}};
  return all;
}

void expect_all_same(const std::vector<Layout>& layouts) {
  for (const RunForm& form : forms()) {
    SCOPED_TRACE(form.family + " " + form.compute);
    const Trace one = run_layout(form, {});
    ASSERT_EQ(one.loss.size(), 10u);
    EXPECT_LT(one.loss.back(), one.loss.front()) << "it learns";
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(name_of(layout));
      expect_same(run_layout(form, layout), one);
    }
  }
}

TEST(Bits, ReplicatedOnAnyNumberOfRanks) {
  expect_all_same({{.replicate = 2}, {.replicate = 4}, {.replicate = 8}, {.replicate = 2, .shard = 2}});
}

TEST(Bits, Zero1) {
  expect_all_same({{.shard = 2, .zero = 1}, {.shard = 4, .zero = 1}, {.shard = 8, .zero = 1}});
}
TEST(Bits, Zero2) {
  expect_all_same({{.shard = 2, .zero = 2}, {.shard = 4, .zero = 2}, {.shard = 8, .zero = 2}});
}

TEST(Bits, Zero3) {
  expect_all_same({{.shard = 2, .zero = 3},
                   {.shard = 4, .zero = 3},
                   {.shard = 8, .zero = 3},
                   {.shard = 4, .zero = 3, .reshard = false}});
}

TEST(Bits, PrefetchOfAnyDepth) {
  expect_all_same({{.shard = 4, .zero = 3, .prefetch = 2},
                   {.shard = 4, .zero = 3, .prefetch = 8},
                   {.shard = 4, .zero = 3, .reshard = false, .prefetch = 3},
                   {.shard = 4, .zero = 1, .prefetch = 4}});
}

// Gradients that are summed over ranks after each micro-batch have bits of their own, which the style, the
// split and the pipeline do not change; and they are the others' up to rounding.
TEST(Bits, EachMicroBatchReduced) {
  for (const RunForm& form : forms()) {
    SCOPED_TRACE(form.family + " " + form.compute);
    const Trace each = run_layout(form, {.shard = 4, .zero = 2, .lanes = 4, .each_micro_batch = true});
    const Trace once = run_layout(form, {.shard = 4, .zero = 2, .lanes = 4});
    EXPECT_FALSE(each.state == once.state);
    EXPECT_NEAR(each.grad_norm[0], once.grad_norm[0], 1e-5 * once.grad_norm[0]);
    for (const Layout& layout :
         std::vector<Layout>{{.shard = 4, .zero = 3}, {.replicate = 2, .shard = 2, .zero = 2}}) {
      Layout other = layout;
      other.lanes = 4;
      other.each_micro_batch = true;
      SCOPED_TRACE(name_of(other));
      expect_same(run_layout(form, other), each);
    }
    const Trace two = run_layout(form, {.shard = 2, .zero = 2, .lanes = 2, .each_micro_batch = true});
    for (const char* schedule : {"1f1b", "zb_h1"})
      expect_same(
          run_layout(
              form,
              {.shard = 2, .zero = 3, .lanes = 2, .each_micro_batch = true, .pp = 2, .schedule = schedule}),
          two);
  }
}

// Two copies of a stage sum their halves apart, also then.
TEST(Bits, EachMicroBatchReducedInTwoDirections) {
  const RunForm form{.family = "gpt2", .compute = "bf16"};
  const auto run = [&](int64_t zero, bool each) {
    return run_layout(
        form,
        {.shard = 2, .zero = zero, .lanes = 4, .each_micro_batch = each, .pp = 2, .schedule = "dualpipe"});
  };
  const Trace each = run(2, true), once = run(2, false);
  expect_same(run(3, true), each);
  EXPECT_FALSE(each.state == once.state);
  EXPECT_NEAR(each.grad_norm[0], once.grad_norm[0], 1e-5 * once.grad_norm[0]);
}

TEST(Bits, Hybrid) {
  for (const int64_t zero : {1, 2, 3}) expect_all_same({{.replicate = 2, .shard = 2, .zero = zero}});
}

// Without lanes of its own, each rank sums its micro-batches in order: dp styles agree among themselves.
TEST(Bits, StylesAgreeAtTheDefaultLanes) {
  for (const RunForm& form : forms()) {
    const Trace replicated = run_layout(form, {.replicate = 4, .lanes = 4});
    for (const int64_t zero : {1, 2, 3})
      expect_same(run_layout(form, {.shard = 4, .zero = zero, .lanes = 4}), replicated);
  }
}

// The test can fail: another tree gives other bits.
TEST(Bits, LanesAreWhatFixesTheSum) {
  EXPECT_FALSE(run_layout({}, {.lanes = 1}).state == run_layout({}, {.lanes = 8}).state);
}

TEST(Bits, OneMicroBatchPerRank) {
  const RunForm form{.family = "gpt2", .compute = "bf16", .sequences = 8};
  const Trace one = run_layout(form, {});
  for (const int64_t zero : {0, 1, 2, 3}) expect_same(run_layout(form, {.shard = 8, .zero = zero}), one);
}

TEST(Bits, ARunMayChangeItsLayoutInTheMiddle) {
  for (const RunForm& form : forms()) {
    const Trace whole = run_layout(form, {});
    const Trace first = run_layout(form, {.shard = 4, .zero = 3}, {0, 5, {}});
    Trace second = run_layout(form, {.replicate = 2, .shard = 4, .zero = 1}, {5, 10, {}}, &first);
    second.loss.insert(second.loss.begin(), first.loss.begin(), first.loss.end());
    second.grad_norm.insert(second.grad_norm.begin(), first.grad_norm.begin(), first.grad_norm.end());
    expect_same(second, whole);
  }
}

}  // namespace
}  // namespace trireme
