// A run whose checkpoints are mirrored: it never waits for the store, and goes on from it on another machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cli/tiny_run.h"
#include "io/checkpoint/checkpoint.h"
#include "io/store/open_store.h"
#include "s3/fault_proxy.h"
#include "s3/s3_environment.h"

namespace trireme {
namespace {
using test::S3Server;
using testing::HasSubstr;
using testing::Not;

class TrainS3 : public testing::Test {
 protected:
  TrainS3() {
    settings_ = {{"checkpoint.mirror", place_}, {"lr.decay_steps", "12"}};
    EXPECT_EQ(tiny_.train({{"run.name", "whole"}, {"lr.decay_steps", "12"}}).exit_code, 0);
  }
  Outcome train(const Settings& more, const Arguments& arguments = {}) const {
    Settings settings = settings_;
    settings.insert(more.begin(), more.end());
    return tiny_.train(settings, arguments);
  }
  // As on a machine that has nothing of it.
  void forget() const { std::filesystem::remove_all(tiny_.run_folder("tiny")); }
  std::vector<CheckpointName> mirrored() const {
    return list_checkpoints(*open_store(place_, S3Server::shared().options()));
  }

  test::S3Environment environment_;
  std::string place_ = S3Server::fresh_place();
  TinyRun tiny_;
  Settings settings_;
};

TEST_F(TrainS3, GoesOnFromItsMirrorOnAnotherMachine) {
  const Outcome first = train({{"run.steps", "8"}}, {"--ranks", "2"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("mirrored step-00000008 to " + place_));
  EXPECT_EQ(mirrored().back().step, 8);
  forget();
  const Outcome refused = train({}, {"--resume", "never"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("--resume never, but checkpoint.mirror = " + place_ + " has checkpoints"));
  forget();
  const Outcome second = train({});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("resumed from " + place_ + "/step-00000008: step 8"));
  EXPECT_EQ(mirrored().back().step, 12);
  for (const auto& [step, loss] : tiny_.metric("tiny", "loss"))
    EXPECT_EQ(loss, tiny_.metric("whole", "loss").at(step));
  EXPECT_EQ(tiny_.metric("tiny", "loss").size(), 4u);
  // Named by hand, and one of them.
  const Outcome named = train({{"run.name", "named"}, {"checkpoint.mirror", tiny_ / "a-folder"}},
                              {"--resume", place_ + "/step-00000004"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(tiny_.metric("named", "loss").at(12), tiny_.metric("whole", "loss").at(12));
  EXPECT_EQ(tiny_.run({"eval", place_}).exit_code, 0);
}

TEST_F(TrainS3, AMirrorThatCannotBeReachedEndsNoRun) {
  ASSERT_EQ(train({{"run.steps", "4"}}).exit_code, 0);
  environment_.set("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
  Settings settings = settings_;
  settings["run.steps"] = "8";
  Process process(TinyRun::train_arguments(settings), tiny_.path());
  while (process.running() && tiny_.metric("tiny", "loss").size() < 8) usleep(10'000);
  process.send(SIGTERM);  // it need not wait to the end of all tries
  const Outcome unreachable = process.wait();
  EXPECT_EQ(unreachable.exit_code, 0) << unreachable.err;
  EXPECT_THAT(unreachable.err, HasSubstr("trireme ckpt push runs/tiny/checkpoints " + place_ + " does it"));
  EXPECT_EQ(tiny_.checkpoints("tiny").back(), "step-00000008");
  // Started again, what is missing is made up for.
  environment_.set("AWS_ENDPOINT_URL", S3Server::shared().endpoint());
  const Outcome again = train({{"run.steps", "12"}});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  std::vector<int64_t> steps;
  for (const CheckpointName& name : mirrored()) steps.push_back(name.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{4, 8, 12}));
  EXPECT_EQ(tiny_.metric("tiny", "loss"), tiny_.metric("whole", "loss"));
}

TEST_F(TrainS3, MistakesAreSaidAtTheStart) {
  settings_["checkpoint.mirror"] = "s3://No_Bucket/x";
  const Outcome bad = train({});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("\"No_Bucket\" is no name of a bucket"));
}

}  // namespace
}  // namespace trireme
