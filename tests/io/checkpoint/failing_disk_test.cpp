// A save that fails harms nothing: disk full, folder not writable, killed at any moment.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "io/checkpoint/checkpoint.h"
#include "io/store/directory_store.h"
#include "small_state.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
using testing::HasSubstr;
using testing_checkpoint::difference;
using testing_checkpoint::SmallState;
namespace fs = std::filesystem;

void save(ByteStore& store, int64_t step, size_t width, int64_t keep = 0) {
  const SmallState state(step, width);
  save_checkpoint(store, state.meta, state.pieces(), {.keep = {.newest = keep}});
}

// In a child process, which may change its limits and user; returns what the save was refused with.
std::string refusal_in_child(const std::string& folder, int64_t step, size_t width,
                             const std::function<void()>& prepare) {
  const std::string report = folder + "-report";
  spill(report, "");
  ::chmod(report.c_str(), 0666);
  const pid_t child = ::fork();
  if (child == 0) {
    const int to = ::open(report.c_str(), O_WRONLY);
    prepare();
    std::string text = "saved";
    try {
      save(*open_directory_store(folder), step, width);
    } catch (const EnvError& error) {
      text = error.what();
    }
    struct rlimit none {
      RLIM_INFINITY, RLIM_INFINITY
    };
    ::setrlimit(RLIMIT_FSIZE, &none);
    (void)!::write(to, text.data(), text.size());
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  const std::string text = slurp(report);
  fs::remove(report);
  return text;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

void expect_only_step_1(const std::string& folder) {
  EXPECT_THAT(names_in(folder), testing::ElementsAre("step-00000001"));
  const auto store = open_directory_store(folder);
  const auto found = newest_good(*store, {}, [](const std::string& why) { ADD_FAILURE() << why; });
  ASSERT_TRUE(found);
  EXPECT_EQ(difference(*found, 4), "");
}

// A limit on file sizes stands for the full disk: write fails at that byte, wherever in the save it is.
TEST(FailingDisk, WriteFailsAtAnyByte) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  save(*open_directory_store(folder), 1, 4);
  for (const rlim_t limit : {0, 1, 8, 100, 1000, 20000, 65536, 70000}) {
    const std::string said = refusal_in_child(folder, 2, 8192, [&] {
      ::signal(SIGXFSZ, SIG_IGN);
      struct rlimit small {
        limit, RLIM_INFINITY
      };
      ::setrlimit(RLIMIT_FSIZE, &small);
    });
    EXPECT_THAT(said,
                testing::AllOf(HasSubstr("step-00000002 is not saved: cannot write"),
                               HasSubstr("File too large"), HasSubstr("earlier checkpoints are untouched")))
        << limit;
    expect_only_step_1(folder);
  }
}

TEST(FailingDisk, FullFileSystem) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "small";
  fs::create_directory(folder);
  if (::system(("mount -t tmpfs -o size=1m tmpfs '" + folder + "' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "a small file system can only be mounted by root";
  }
  save(*open_directory_store(folder), 1, 4);
  std::string said;
  try {
    save(*open_directory_store(folder), 2, 100000);
  } catch (const EnvError& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("No space left on device"));
  expect_only_step_1(folder);
  save(*open_directory_store(folder), 3, 1000);  // once there is room, saving goes on
  EXPECT_EQ(list_checkpoints(*open_directory_store(folder)).size(), 2u);
  EXPECT_EQ(::system(("umount '" + folder + "'").c_str()), 0);
}

TEST(FailingDisk, FolderNotWritable) {
  const ScratchFolder scratch;
  ::chmod(scratch.path().c_str(), 0755);
  const std::string folder = scratch / "checkpoints";
  save(*open_directory_store(folder), 1, 4);
  for (const mode_t mode : {0555, 0000}) {
    ::chmod(folder.c_str(), mode);
    const std::string said = refusal_in_child(folder, 2, 4, [] {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(1);  // root may write anywhere
    });
    EXPECT_THAT(said, testing::AllOf(HasSubstr("is not saved"), HasSubstr("Permission denied")));
    ::chmod(folder.c_str(), 0755);
    expect_only_step_1(folder);
  }
}

TEST(FailingDisk, AFileWhereTheFolderShouldBe) {
  const ScratchFolder scratch;
  spill(scratch / "run", "I am a file");
  EXPECT_THROW(save(*open_directory_store(scratch / "run/checkpoints"), 1, 4), EnvError);
  EXPECT_EQ(slurp(scratch / "run"), "I am a file");
}

// A child saves without pause (new steps and the same step again) and dies at a random moment. Afterwards
// every committed checkpoint is whole, the newest one is at least the last that the child knew as saved, and
// the next save leaves nothing else behind.
TEST(FailingDisk, KilledAtAnyMoment) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  const auto store = open_directory_store(folder);
  const RandomStream random(7, "kill");
  constexpr size_t kWidth = 20000;
  int64_t step = 1;
  save(*store, step, kWidth);
  for (uint64_t round = 0; round < 30; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int64_t s = step + 1;; ++s) {
        for (int again = 0; again < 2; ++again) {
          save(*open_directory_store(folder), s, kWidth, 2);
          (void)!::write(pipe_ends[1], &s, sizeof s);
        }
      }
    }
    ::usleep(static_cast<useconds_t>(1000 + random.bits(round) % 25000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[1]);
    int64_t known = step;
    while (::read(pipe_ends[0], &known, sizeof known) == sizeof known) {
    }
    ::close(pipe_ends[0]);

    std::string unfinished;
    const auto found = newest_good(*store, {}, [&](const std::string& why) { unfinished += why; });
    ASSERT_TRUE(found) << unfinished;
    EXPECT_GE(found->meta().step, known) << unfinished;
    EXPECT_EQ(difference(*found, kWidth), "");
    for (const CheckpointName& checkpoint : list_checkpoints(*store)) {
      if (!checkpoint.committed) continue;
      EXPECT_TRUE(verify_checkpoint(*store, checkpoint.name).faults.empty());
    }
    step = found->meta().step + 1;
    save(*store, step, kWidth, 2);
    EXPECT_EQ(names_in(folder).size(), 2u);
    for (const CheckpointName& checkpoint : list_checkpoints(*store)) EXPECT_TRUE(checkpoint.committed);
  }
}

}  // namespace
}  // namespace trireme
