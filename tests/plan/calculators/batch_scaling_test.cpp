// The square-root rule for Adam, the linear one for SGD.
#include "plan/calculators/batch_scaling.h"

#include <gtest/gtest.h>

#include "plan/message.h"

namespace trireme {
namespace {

const OptimizerSettings kAdam{.lr = 3e-4, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8};

TEST(BatchScaling, OfAdamGoesWithTheSquareRoot) {
  const Answer answer = scale_batch(kAdam, 512, 2048);
  EXPECT_EQ(find_result(answer, "k")->value, 4);
  EXPECT_DOUBLE_EQ(find_result(answer, "lr")->value, 6e-4);
  EXPECT_DOUBLE_EQ(find_result(answer, "beta1")->value, 0.6);
  EXPECT_DOUBLE_EQ(find_result(answer, "beta2")->value, 0.8);
  EXPECT_DOUBLE_EQ(find_result(answer, "eps")->value, 5e-9);
  EXPECT_EQ(find_result(answer, "lr")->numbers, "3e-4 * sqrt(4)");
}

TEST(BatchScaling, ThereAndBackIsWhatItWas) {
  const Answer half = scale_batch(kAdam, 512, 256);
  const OptimizerSettings smaller{.lr = find_result(half, "lr")->value,
                                  .beta1 = find_result(half, "beta1")->value,
                                  .beta2 = find_result(half, "beta2")->value,
                                  .eps = find_result(half, "eps")->value};
  const Answer back = scale_batch(smaller, 256, 512);
  EXPECT_NEAR(find_result(back, "lr")->value, kAdam.lr, 1e-15);
  EXPECT_NEAR(find_result(back, "beta1")->value, kAdam.beta1, 1e-12);
  EXPECT_NEAR(find_result(back, "eps")->value, kAdam.eps, 1e-20);
}

TEST(BatchScaling, OfSgdIsLinear) {
  const Answer answer = scale_batch({.kind = OptimizerKind::sgd, .lr = 0.1}, 256, 1024);
  EXPECT_DOUBLE_EQ(find_result(answer, "lr")->value, 0.4);
  EXPECT_EQ(find_result(answer, "beta1"), nullptr);
}

TEST(BatchScaling, RefusesABatchThatTheBetasDoNotStand) {
  EXPECT_EQ(
      message_of([] { scale_batch(kAdam, 512, 5120 * 2); }),
      "k = 20: beta1 = 0.9 would become -1; the rule holds for k less than 1 / (1 - 0.9) = 10: change the "
      "batch by less, or begin from another beta1");
}

}  // namespace
}  // namespace trireme
