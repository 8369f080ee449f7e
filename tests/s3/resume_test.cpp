// A run that starts from a store, without anything having been fetched before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/tiny_run.h"
#include "s3/s3_server.h"

namespace trireme {
namespace {
using test::S3Server;
using testing::HasSubstr;

TEST(S3Resume, StraightFromTheStoreWithTheSameBits) {
  const S3Options s3 = S3Server::shared().options();
  setenv("AWS_ENDPOINT_URL_S3", s3.endpoint.c_str(), 1);
  setenv("AWS_ACCESS_KEY_ID", s3.access_key.c_str(), 1);
  setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key.c_str(), 1);
  const std::string place = S3Server::fresh_place();
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"run.steps", "12"}}).exit_code, 0);
  Outcome done = tiny.run({"ckpt", "push", "runs/tiny/checkpoints/step-00000008", place});
  ASSERT_EQ(done.exit_code, 0) << done.err;

  for (const std::string& from : {place, place + "/step-00000008"}) {
    const std::string name = from == place ? "newest" : "named";
    done = tiny.train({{"run.name", name}, {"run.steps", "12"}}, {"--resume", from});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    std::map<int64_t, std::string> expected = tiny.metric("tiny", "loss");
    std::erase_if(expected, [](const auto& entry) { return entry.first <= 8; });
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(tiny.metric(name, "loss"), expected);
  }
  const Outcome local = tiny.run({"eval", "runs/tiny/checkpoints/step-00000008"});
  const Outcome remote = tiny.run({"eval", place, "--set", "data.tokenizer=tokenizer.json"});
  EXPECT_EQ(remote.exit_code, 0) << remote.err;
  EXPECT_EQ(remote.out.substr(remote.out.find("sequences")), local.out.substr(local.out.find("sequences")));

  done = tiny.train({{"run.name", "none"}}, {"--resume", S3Server::fresh_place()});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err,
              HasSubstr("has no checkpoint that can be read: look at it with trireme ckpt ls s3://"));
  for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"})
    unsetenv(name);
}

}  // namespace
}  // namespace trireme
