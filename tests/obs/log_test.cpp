// Where messages go and how they look.
#include "obs/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;

TEST(Log, TerminalAndFileHaveLevelsOfTheirOwn) {
  const ScratchFolder folder;
  std::FILE* terminal = std::fopen((folder / "terminal").c_str(), "w");
  {
    Log log({.terminal = terminal, .file = folder / "logs/log.txt"});
    log.debug("hidden {}", 1);
    log.info("braces {} stay", "{}");
    log.warn("{} % n", 2);
    log.error("bad");
    EXPECT_EQ(slurp(folder / "terminal"), "braces {} stay\nwarning: 2 % n\nerror: bad\n");
  }
  std::fclose(terminal);
  EXPECT_THAT(slurp(folder / "logs/log.txt"),
              testing::MatchesRegex("20[-0-9]+ [0-9:.]+ debug hidden 1\n.* info braces \\{\\} stay\n"
                                    ".* warning 2 % n\n.* error bad\n"));
}

TEST(Log, TheFileIsAppendedTo) {
  const ScratchFolder folder;
  for (const char* text : {"one", "two"})
    Log({.terminal = nullptr, .file = folder / "log.txt"}).info("{}", text);
  EXPECT_THAT(slurp(folder / "log.txt"), testing::MatchesRegex(".* info one\n.* info two\n"));
}

TEST(Log, ManyLogsAtOnceAndManyThreads) {
  const ScratchFolder folder;
  Log first({.terminal = nullptr, .file = folder / "a"});
  Log second({.terminal = nullptr, .file = folder / "b"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) first.info("line");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = slurp(folder / "a");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 400);
  EXPECT_EQ(slurp(folder / "b"), "");
}

TEST(Log, AnUnwritableFileIsSaid) {
  const ScratchFolder folder;
  EXPECT_THROW(Log({.file = folder.path()}), EnvError);
}

TEST(Log, AFullDiskDoesNotEndTheRun) {
  Log log({.terminal = nullptr, .file = "/dev/full"});
  log.info("lost");
}

}  // namespace
}  // namespace trireme
