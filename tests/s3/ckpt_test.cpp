// `trireme ckpt push`, `ls`, `verify` and `pull` as a person runs them, also killed in the middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <thread>

#include "base/random.h"
#include "cli/process.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/small_state.h"
#include "io/store/directory_store.h"
#include "io/store/open_store.h"
#include "s3/fault_proxy.h"
#include "s3/s3_environment.h"
#include "s3/s3_server.h"

namespace trireme {
namespace {
using test::S3Server;
using test::slurp;
using test::spill;
using testing::AllOf;
using testing::HasSubstr;
using testing_checkpoint::SmallState;

class CkptS3 : public testing::Test {
 protected:
  void set(const char* name, const std::string& value) { environment_.set(name, value); }
  void save(int64_t step, size_t width) {
    const SmallState state(step, width);
    save_checkpoint(*open_directory_store(folder_ / "run/checkpoints"), state.meta, state.pieces(), {});
  }
  Outcome run(const Arguments& arguments) const { return run_trireme(arguments, folder_.path()); }

  test::S3Environment environment_;
  test::ScratchFolder folder_;
  std::string place_ = S3Server::fresh_place();
};

TEST_F(CkptS3, PushListVerifyPull) {
  save(9, 100);
  save(10, 100'000);
  Outcome done = run({"ckpt", "push", "run", place_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr(place_ + "/step-00000009: "), HasSubstr(place_ + "/step-00000010: 2401."),
                    HasSubstr("every byte read back as written")));
  done = run({"ckpt", "push", "run/checkpoints/step-00000009/", place_ + "/"});
  EXPECT_THAT(done.out, HasSubstr("step-00000009 is there already, every byte as written"));
  done = run({"ckpt", "ls", place_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("step-00000009"), HasSubstr("step-00000010"), HasSubstr("5120")));
  done = run({"ckpt", "verify", place_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("step-00000010: good, 3 tensors"));

  done = run({"ckpt", "pull", place_, "other"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("other/checkpoints/step-00000010: 2401."));
  done = run({"ckpt", "pull", place_ + "/step-00000009", "other/checkpoints"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  for (const char* file : {"step-00000009/COMMITTED", "step-00000009/index.json", "step-00000010/COMMITTED",
                           "step-00000010/index.json", "step-00000010/rank-00000.safetensors"}) {
    const std::string path = std::string("/checkpoints/") + file;
    EXPECT_TRUE(slurp(folder_ / ("run" + path)) == slurp(folder_ / ("other" + path))) << file;
    EXPECT_FALSE(slurp(folder_ / ("other" + path)).empty()) << file;
  }
}

TEST_F(CkptS3, DamageInTheStoreIsFound) {
  save(9, 100);
  EXPECT_EQ(run({"ckpt", "push", "run", place_}).exit_code, 0);
  const auto store = open_store(place_, S3Server::shared().options());
  const std::string path = "step-00000009/rank-00000.safetensors";
  std::string bytes = read_text(*store, path, 1 << 20);
  bytes[bytes.size() - 9] ^= 1;
  const std::string marker = read_text(*store, "step-00000009/COMMITTED", 100);
  const auto sink = store->create(path);
  sink->write(std::as_bytes(std::span(bytes)));
  sink->finish();
  store->publish("step-00000009", {"COMMITTED", marker});
  Outcome done = run({"ckpt", "verify", place_ + "/step-00000009"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.out, AllOf(HasSubstr("step-00000009: DAMAGED"), HasSubstr(place_ + "/" + path)));
  done = run({"ckpt", "pull", place_, "other"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.err, HasSubstr("is not copied, since it is damaged itself"));
  EXPECT_EQ(run({"ckpt", "push", "run", place_}).exit_code, 0);  // replaces it
  EXPECT_EQ(run({"ckpt", "verify", place_}).exit_code, 0);
}

TEST_F(CkptS3, CredentialsOfAProfile) {
  unsetenv("AWS_ACCESS_KEY_ID");
  Outcome done = run({"ckpt", "ls", place_});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(place_ + " needs credentials: set AWS_ACCESS_KEY_ID"));
  spill(folder_ / "credentials",
        "# comment\n[default]\naws_access_key_id = NOBODY\naws_secret_access_key = x\n\n[ lab ]\n"
        "aws_access_key_id=TESTKEY\n  aws_secret_access_key = a/secret+with=signs\nregion = eu-west-1\n");
  set("AWS_SHARED_CREDENTIALS_FILE", folder_ / "credentials");
  done = run({"ckpt", "ls", place_});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.err,
              HasSubstr("the store knows no key NOBODY (from profile default of " + folder_.path()));
  set("AWS_PROFILE", "lab");
  done = run({"ckpt", "ls", place_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("no checkpoints in " + place_));
}

TEST_F(CkptS3, MistakesSayWhatToDo) {
  const auto refused = [&](const Arguments& arguments) {
    const Outcome done = run(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    return done.err;
  };
  EXPECT_THAT(refused({"ckpt", "ls", "s3://No_Bucket/a"}), HasSubstr("\"No_Bucket\" is no name of a bucket"));
  EXPECT_THAT(refused({"ckpt", "push", "nowhere", place_}), HasSubstr("there is no folder nowhere"));
  EXPECT_THAT(refused({"ckpt", "pull", place_, "run"}), HasSubstr("has no checkpoint to copy"));
  EXPECT_THAT(refused({"ckpt", "verify", place_}), HasSubstr("has no checkpoint: is it the right name?"));
  EXPECT_THAT(refused({"ckpt", "verify", place_ + "/step-00000001"}), HasSubstr("there is no checkpoint"));
  save(9, 100);
  EXPECT_THAT(refused({"ckpt", "push", "run", place_ + "/step-00000009"}),
              HasSubstr("name what it lies in, without /step-00000009"));
  set("AWS_ENDPOINT_URL", "127.0.0.1:9000");
  EXPECT_THAT(refused({"ckpt", "ls", place_}), HasSubstr("127.0.0.1:9000 is no address of an S3 store"));
}

// Killed at moments spread over a whole copy: what is committed is whole, and the next push completes it.
TEST_F(CkptS3, KilledAtAnyMoment) {
  save(9, 225'000);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run({"ckpt", "push", "run", S3Server::fresh_place()}).exit_code, 0);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
  const RandomStream random(5, "kill");
  int unfinished = 0;
  for (uint64_t round = 0; round < 8; ++round) {
    place_ = S3Server::fresh_place();
    const auto store = open_store(place_, S3Server::shared().options());
    {
      Process push({"ckpt", "push", "run", place_}, folder_.path());
      std::this_thread::sleep_for(whole * random.uniform(round) * 1.1);
      push.send(SIGKILL);
      push.wait();
    }
    if (store->exists("step-00000009/COMMITTED"))
      ASSERT_TRUE(verify_checkpoint(*store, "step-00000009").faults.empty()) << round;
    else
      ++unfinished;
    ASSERT_EQ(run({"ckpt", "push", "run", place_}).exit_code, 0) << round;
    ASSERT_TRUE(verify_checkpoint(*store, "step-00000009").faults.empty()) << round;
  }
  EXPECT_GT(unfinished, 1);
}

}  // namespace
}  // namespace trireme
