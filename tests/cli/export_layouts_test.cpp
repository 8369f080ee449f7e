// The weights that a run ends with are the same file, whatever layouts it was trained and saved under; and a
// run's weights start another one's under any layout.
#include <gtest/gtest.h>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

TEST(ExportLayouts, ExportsAreTheSameToTheByte) {
  const TinyRun tiny;
  const Settings shared = {{"batch.lanes", "2"},
                           {"batch.micro", "1"},
                           {"checkpoint.every_steps", "3"},
                           {"run.steps", "6"},
                           {"lr.decay_steps", "6"}};
  std::string expected;
  int n = 0;
  for (const Settings& layout :
       {Settings{}, Settings{{"parallel.dp_shard", "2"}, {"parallel.zero", "3"}},
        Settings{{"parallel.dp_replicate", "2"}, {"checkpoint.async", "false"}},
        Settings{{"parallel.pp", "2"}, {"parallel.dp_shard", "2"}, {"parallel.zero", "1"}},
        Settings{{"parallel.pp", "2"}, {"parallel.schedule", "dualpipev"}}}) {
    Settings settings = shared;
    settings.insert(layout.begin(), layout.end());
    const std::string name = "layout-" + std::to_string(n++);
    settings["run.name"] = name;
    ASSERT_EQ(tiny.train(settings).exit_code, 0);
    const Outcome exported = tiny.run({"ckpt", "export", "runs/" + name, "--to", "hf", name});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    const std::string weights = test::slurp(tiny / (name + "/model.safetensors"));
    if (expected.empty()) expected = weights;
    EXPECT_GT(weights.size(), 100000u);
    EXPECT_TRUE(weights == expected) << name;
  }
}

TEST(ExportLayouts, FirstWeightsAreTheSameUnderAnyLayout) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.name", "source"}}).exit_code, 0);
  ASSERT_EQ(tiny.run({"ckpt", "export", "runs/source", "--to", "hf", "out"}).exit_code, 0);
  const auto first_loss = [&](const std::string& name, const std::string& from, Settings settings) {
    settings.insert({{"run.name", name},
                     {"model.init_from", from},
                     {"run.steps", "2"},
                     {"batch.micro", "1"},
                     {"eval.every_steps", "0"}});
    const Outcome outcome = tiny.train(settings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("the first weights are those of " + from), std::string::npos) << outcome.err;
    return std::stod(tiny.metric(name, "loss").at(1));
  };
  const double loss = first_loss("whole", "runs/source", {});
  EXPECT_LT(loss, 5.2);  // drawn weights begin at ln 257 = 5.55
  int n = 0;
  for (const Settings& layout :
       {Settings{{"parallel.dp_shard", "2"}, {"parallel.zero", "3"}}, Settings{{"parallel.tp", "2"}},
        Settings{{"parallel.pp", "2"}}, Settings{{"parallel.cp", "2"}}})
    for (const char* from : {"runs/source", "out"})
      EXPECT_NEAR(first_loss("first-" + std::to_string(n++), from, layout), loss, 1e-5 * loss);
  // A run that has checkpoints goes on from them.
  const Outcome again = tiny.train(
      {{"run.name", "whole"}, {"model.init_from", "out"}, {"run.steps", "3"}, {"batch.micro", "1"}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("resumed from runs/whole"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("the first weights"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace trireme
