// SGD over every axis against one rank. AdamW's step does not depend on the scale of a gradient; SGD's does:
// a gradient that is summed once too often, or divided by the wrong count, shows in the weights. Nothing is
// clipped, which would hide it likewise.
#include <gtest/gtest.h>

#include "dist/parity_forms.h"

namespace trireme {
namespace {

using test::expect_parity;
using test::Layout;
using test::RunForm;

RunForm with_sgd(RunForm form) {
  form.lr = 0.1;
  form.clip_norm = 0;
  form.optimizer = "kind = \"sgd\"\nmomentum = 0.9";
  return form;
}

TEST(SgdParity, OverEveryAxis) {
  const std::vector<Layout> layouts = {{.tp = 2},        {.tp = 2, .sequence = false},
                                       {.cp = 2},        {.cp = 2, .cp_mode = "ulysses"},
                                       {.replicate = 2}, {.shard = 2, .zero = 3},
                                       {.pp = 2},        {.shard = 2, .zero = 2, .pp = 2, .tp = 2, .cp = 2}};
  expect_parity(with_sgd(test::gpt2_form()), layouts);
  expect_parity(with_sgd(test::llama_form()), layouts);
}

// An expert's gradient is the sum over the ranks whose tokens came to it, not over those that hold it.
TEST(SgdParity, WithExperts) {
  const std::vector<Layout> layouts = {{.shard = 2, .ep = 2},
                                       {.shard = 4, .zero = 3, .ep = 2},
                                       {.replicate = 2, .shard = 2, .zero = 2, .ep = 2},
                                       {.shard = 2, .tp = 2, .ep = 2},
                                       {.shard = 2, .tp = 2, .ep = 2, .etp = 2},
                                       {.cp = 2, .ep = 2}};
  expect_parity(with_sgd(test::mixtral_form()), layouts);
  expect_parity(with_sgd(test::deepseek_form()), layouts);
}

// Three steps leave no noise of ten: at lr 1 and without momentum a weight has moved by its gradients' sum.
TEST(SgdParity, WeightsMoveByTheGradientsThemselves) {
  RunForm form = with_sgd(test::gpt2_form());
  form.lr = 1;
  form.optimizer = "kind = \"sgd\"\nweight_decay = 0";
  expect_parity(form, {{.shard = 2, .zero = 1, .tp = 2, .cp = 2}});
}

}  // namespace
}  // namespace trireme
