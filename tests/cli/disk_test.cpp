// Disks that are full or cannot be written.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>

#include "cli/tiny_run.h"

namespace trireme {
namespace {

// A small tmpfs, for as long as it lives; only root may have one.
class SmallDisk {
 public:
  SmallDisk(const std::string& folder, const std::string& size) : folder_(folder) {
    std::filesystem::create_directories(folder);
    mounted_ = mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  bool resize(const std::string& size) const {
    return mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()) == 0;
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

TEST(Disk, FullEndsTheRunAndLeavesOlderCheckpointsWhole) {
  const TinyRun tiny;
  Settings settings = {{"run.name", "whole"}};
  ASSERT_EQ(tiny.train(settings).exit_code, 0);
  // A checkpoint is 1.5 MB: the third of three does not fit.
  const SmallDisk disk(tiny.run_folder("full"), "4m");
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a small disk";
  settings["run.name"] = "full";
  const Outcome full = tiny.train(settings);
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_NE(full.err.find("trireme: checkpoint runs/full/checkpoints/step-00000012 is not saved"),
            std::string::npos)
      << full.err;
  EXPECT_NE(full.err.find("No space left on device"), std::string::npos) << full.err;
  EXPECT_EQ(tiny.checkpoints("full"), (std::vector<std::string>{"step-00000004", "step-00000008"}));
  EXPECT_EQ(tiny.run({"ckpt", "verify", "runs/full"}).exit_code, 0);

  ASSERT_TRUE(disk.resize("20m"));
  const Outcome resumed = tiny.train(settings);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(tiny.fingerprint("full"), tiny.fingerprint("whole"));
}

TEST(Disk, UnwritableIsSaidInOneLine) {
  const TinyRun tiny;
  write_bytes(tiny / "a-file", "not a folder");
  for (const char* dir : {"a-file", "/proc/nowhere"}) {
    const Outcome outcome = tiny.train({{"run.dir", dir}});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_NE(outcome.err.find(dir), std::string::npos) << outcome.err;
  }
  // The folder of checkpoints is a file: found at the first save.
  write_bytes(tiny.run_folder("blocked") + "/checkpoints", "in the way");
  const Outcome blocked = tiny.train({{"run.name", "blocked"}});
  EXPECT_EQ(blocked.exit_code, 3) << blocked.err;
  EXPECT_NE(blocked.err.find("runs/blocked/checkpoints"), std::string::npos) << blocked.err;
}

// The disk that the checkpoints are on is not mounted: to begin anew would throw away what the run has done.
TEST(Disk, CheckpointsBehindADeadLinkAreNotBegunAnew) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train().exit_code, 0);
  const std::string folder = tiny.run_folder("tiny");
  const std::string metrics = test::slurp(folder + "/metrics.jsonl");
  std::filesystem::rename(folder + "/checkpoints", folder + "/elsewhere");
  std::filesystem::create_symlink("nowhere", folder + "/checkpoints");
  const Outcome refused = tiny.train();
  EXPECT_EQ(refused.exit_code, 3) << refused.err;
  EXPECT_NE(refused.err.find("runs/tiny/checkpoints is a link to a place that is not there"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(test::slurp(folder + "/metrics.jsonl"), metrics);
  std::filesystem::remove(folder + "/checkpoints");
  std::filesystem::create_symlink("elsewhere", folder + "/checkpoints");
  EXPECT_EQ(tiny.train({{"run.steps", "15"}}).exit_code, 0);
}

// A link to itself under a checkpoint's name is none.
TEST(Disk, ALinkToItselfIsNoCheckpoint) {
  const TinyRun tiny;
  ASSERT_EQ(tiny.train({{"lr.decay_steps", "15"}}).exit_code, 0);
  const std::string checkpoint = tiny.run_folder("tiny") + "/checkpoints/step-00000012";
  std::filesystem::remove_all(checkpoint);
  std::filesystem::create_symlink("step-00000012", checkpoint);
  EXPECT_NE(tiny.run({"ckpt", "verify", "runs/tiny/checkpoints/step-00000012"}).exit_code, 134);
  EXPECT_EQ(tiny.run({"ckpt", "verify", "runs/tiny"}).exit_code, 0);
  const Outcome resumed = tiny.train({{"run.steps", "15"}, {"lr.decay_steps", "15"}});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resumed from runs/tiny/checkpoints/step-00000008"), std::string::npos)
      << resumed.err;
}

}  // namespace
}  // namespace trireme
