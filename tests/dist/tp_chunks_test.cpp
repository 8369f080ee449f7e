// Collectives of tensor parallelism in chunks beside their products change no bit of a run: losses, grad
// norms, evaluation, weights and moments.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace trireme
