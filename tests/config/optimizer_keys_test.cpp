// The keys of [optimizer] that depend on its kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::string>;

TEST(OptimizerKeys, Defaults) {
  EXPECT_EQ(with({}).optimizer.kind, OptimizerKind::adamw);
  const OptimizerSpec sgd = with({"optimizer.kind=sgd"}).optimizer;
  EXPECT_EQ(sgd.momentum, 0.0);
  EXPECT_EQ(sgd.weight_decay, 0.1);
  EXPECT_EQ(with({"optimizer.kind=sgd", "optimizer.momentum=0.9"}).optimizer.momentum, 0.9);
}

TEST(OptimizerKeys, ApplyToTheirKindOnly) {
  EXPECT_EQ(error_with({"optimizer.momentum=0.9"}),
            "--set: optimizer.momentum = 0.9 is only used with optimizer.kind = \"sgd\"; remove it");
  for (const char* key : {"beta1=0.8", "beta2=0.9", "eps=1e-6"})
    EXPECT_THAT(error_with({"optimizer.kind=sgd", fmt::format("optimizer.{}", key)}),
                HasSubstr("is only used with optimizer.kind = \"adamw\"; remove it"))
        << key;
  EXPECT_THAT(error_with({"optimizer.kind=sgd", "optimizer.momentum=1"}),
              HasSubstr("must be from 0 to below 1"));
  EXPECT_THAT(error_with({"optimizer.kind=sdg"}), HasSubstr("is not one of adamw, sgd; did you mean sgd?"));
}

TEST(OptimizerKeys, ReadBackAndChangeTheMath) {
  const RunSpec spec = with({"optimizer.kind=sgd", "optimizer.momentum=0.9"});
  const RunSpec again = parse_config(to_toml(spec), "canonical");
  EXPECT_EQ(to_toml(again), to_toml(spec));
  EXPECT_TRUE(diff(spec, again).empty());
  EXPECT_NE(math_hash(spec), math_hash(with({})));
  EXPECT_NE(math_hash(spec), math_hash(with({"optimizer.kind=sgd"})));
}

}  // namespace
}  // namespace trireme::test
