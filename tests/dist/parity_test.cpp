// Cutting the inside of a layer over ranks changes the order of sums and nothing else: losses and grad norms
// of ten steps, and the weights after three, against one rank.
#include <gtest/gtest.h>

#include "dist/parity_forms.h"

namespace trireme {
namespace {

using test::expect_parity;
using test::RunForm;

const RunForm kGpt2 = test::gpt2_form(), kLlama = test::llama_form(), kMixtral = test::mixtral_form(),
              kDeepseek = test::deepseek_form();

TEST(Parity, TensorParallel) {
  const std::vector<test::Layout> layouts = {{.tp = 2}, {.tp = 2, .sequence = false}};
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
  expect_parity(kLlama, {{.shard = 2, .zero = 3, .pp = 2, .schedule = "zb_h1", .tp = 2},
                         {.pp = 2, .schedule = "dualpipe", .tp = 2},
                         {.shard = 2, .zero = 2, .each_micro_batch = true, .tp = 2}});
  expect_parity(kMixtral, {{.shard = 2, .zero = 2, .each_micro_batch = true, .ep = 2},
                           {.shard = 2, .zero = 1, .pp = 2, .schedule = "dualpipe", .ep = 2},
                           {.shard = 2, .zero = 3, .pp = 2, .schedule = "zb_h1", .tp = 2, .ep = 2}});
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

// An expert is full by the order of a micro-batch's tokens, however they are cut.
TEST(Parity, DroppedChoices) {
  RunForm form = kMixtral;
  form.more += "\ncapacity_factor = 0.5";
  expect_parity(form, {{.tp = 2}, {.shard = 2, .tp = 2, .ep = 2}});
}

TEST(Parity, AFurtherToken) {
  RunForm form = kDeepseek;
  form.more = "mtp = 1\n" + form.more;
  expect_parity(form, {{.replicate = 2},
                       {.shard = 2, .zero = 3, .ep = 2},
                       {.pp = 2},
                       {.tp = 2},
                       {.tp = 2, .sequence = false},
                       {.cp = 2},
                       {.tp = 2, .cp = 2, .cp_mode = "ulysses"}});
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
