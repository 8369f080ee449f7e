// Collectives of tensor parallelism in chunks beside their products change no bit of a run: losses, grad
// norms, evaluation, weights and moments.
#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <utility>

#include "compile/compile.h"
#include "dist/parity_forms.h"

namespace trireme {
namespace {

using test::expect_same;
using test::Layout;
using test::RunForm;
using test::Trace;

const test::Span kSteps{0, 3, {}};

// In each of `chunks`, against the collectives by themselves.
void expect_no_change(const RunForm& form, const Layout& layout, const std::vector<int64_t>& chunks) {
  const Trace whole = run_layout(form, layout, kSteps);
  ASSERT_EQ(whole.loss.size(), 3u);
  for (const int64_t n : chunks) {
    Layout cut = layout;
    cut.tp_chunks = n;
    SCOPED_TRACE(form.family + " " + form.compute + ", " + name_of(cut));
    expect_same(run_layout(form, cut, kSteps), whole);
  }
}

// gpt2 has biases and ties its embeddings; llama gathers for qkv and gate-up.
TEST(TpChunks, ChangeNoBit) {
  for (RunForm form : {test::gpt2_form(), test::llama_form()})
    for (const char* compute : {"fp32", "bf16"}) {
      form.compute = compute;
      form.sequences = 4;
      expect_no_change(form, {.lanes = 1, .tp = 2}, {2, 4});
      form.kv_heads = 4;
      expect_no_change(form, {.lanes = 1, .tp = 4}, {2, 8});
    }
}

TEST(TpChunks, ChangeNoBitOfASplitBackward) {
  for (RunForm form : {test::gpt2_form(), test::llama_form()}) {
    form.compute = "bf16";
    expect_no_change(form, {.lanes = 1, .pp = 2, .schedule = "zb_h1", .tp = 2}, {2});
  }
}

TEST(TpChunks, ChangeNoBitBesideOtherAxes) {
  RunForm form = test::llama_form();
  expect_no_change(form, {.lanes = 1, .tp = 2, .cp = 2, .cp_mode = "ring"}, {4});
  expect_no_change(form, {.shard = 2, .zero = 3, .lanes = 2, .tp = 2}, {2});
  expect_no_change(test::mixtral_form(), {.shard = 2, .zero = 1, .lanes = 2, .tp = 2, .ep = 2, .etp = 2},
                   {2});
  expect_no_change(test::deepseek_form(), {.lanes = 1, .tp = 2, .etp = 2}, {2});
}

// What the runs above compare is there: of a layer, the products of attention and feed-forward.
TEST(TpChunks, AreInThePrograms) {
  for (const RunForm& form : {test::gpt2_form(), test::llama_form()}) {
    const Compiled compiled = compile(spec_of(form, {.lanes = 1, .tp = 2, .tp_chunks = 2}), {.threads = 1});
    int64_t gathers = 0, scatters = 0;
    for (const Code& code : compiled.program.codes)
      for (const auto* ops : {&code.forward, &code.backward})
        for (const Op& op : *ops) {
          gathers += op.kind == "gather_linear" ? 1 : 0;
          scatters += op.kind == "linear_scatter" ? 1 : 0;
        }
    EXPECT_EQ(gathers, 4);
    EXPECT_EQ(scatters, 4);
  }
}

// Calls by op in the step before the last, on rank 0.
std::map<std::string_view, std::pair<int64_t, int64_t>> timed_calls(const Layout& layout) {
  std::map<std::string_view, std::pair<int64_t, int64_t>> calls;  // how many, bytes sent
  test::Span steps{0, 2, {}};
  steps.before = [&](RankLink& link, Engine& engine, int64_t step) {
    if (step == 0) engine.time_actions(Timing::on);
    if (step == 0 || link.rank() != 0) return;
    for (const AxisCall& call : engine.axis_calls()) {
      EXPECT_LE(call.time.start_s, call.time.end_s);
      ++calls[call.op].first;
      calls[call.op].second += call.sent_bytes;
    }
  };
  RunForm form = test::gpt2_form();
  form.sequences = 2;
  run_layout(form, layout, steps);
  return calls;
}

// Each chunk is a call of its own; together they send what the collective does.
TEST(TpChunks, EachIsACallInTheTrace) {
  const auto whole = timed_calls({.lanes = 1, .tp = 2}),
             cut = timed_calls({.lanes = 1, .tp = 2, .tp_chunks = 4});
  const int64_t layers = 3, slice = 16 * 32 * 4;  // bytes of a rank's rows
  EXPECT_EQ(cut.at("gather_linear"), std::pair(4 * 4 * layers, 4 * layers * slice));
  EXPECT_EQ(cut.at("linear_scatter"), std::pair(4 * 4 * layers, 4 * layers * slice));
  const auto all = [](const auto& calls) {
    int64_t bytes = 0;
    for (const auto& [op, sums] : calls) bytes += sums.second;
    return bytes;
  };
  EXPECT_EQ(all(cut), all(whole));
}

}  // namespace
}  // namespace trireme
