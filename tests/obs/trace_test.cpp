// Trace files are JSON of the form that Chrome and Perfetto read.
#include "obs/trace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
namespace fs = std::filesystem;

TEST(Trace, SpansAndNames) {
  const ScratchFolder folder;
  const std::string path = folder / "traces/step-3.json";
  TraceWriter trace(path);
  trace.name_rank(0, "rank 0");
  trace.name_stream(0, 1, "comm");
  trace.add({.name = "Forward \"0\"",
             .category = "compute",
             .stream = 1,
             .start_us = 1e9 + 0.25,
             .duration_us = 3});
  EXPECT_FALSE(fs::exists(path));
  trace.finish();
  const auto json = nlohmann::json::parse(slurp(path));
  const auto& events = json["traceEvents"];
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["args"]["name"], "rank 0");
  EXPECT_EQ(events[1]["name"], "thread_name");
  EXPECT_EQ(events[2]["name"], "Forward \"0\"");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["tid"], 1);
  EXPECT_EQ(events[2]["ts"].get<double>(), 1e9 + 0.25);
  EXPECT_EQ(events[2]["dur"], 3);
}

TEST(Trace, WithoutFinishNothingRemains) {
  const ScratchFolder folder;
  { TraceWriter trace(folder / "t.json"); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Trace, EmptyIsValid) {
  const ScratchFolder folder;
  TraceWriter trace(folder / "t.json");
  trace.finish();
  EXPECT_TRUE(nlohmann::json::parse(slurp(folder / "t.json"))["traceEvents"].empty());
}

TEST(Trace, AFolderInItsPlaceIsSaid) {
  const ScratchFolder folder;
  fs::create_directories(folder / "t.json.tmp");
  EXPECT_THROW(TraceWriter(folder / "t.json"), EnvError);
}

// Renamed into its place, a file would take that of a device: so root once lost a /dev/full.
TEST(Trace, DoesNotTakeThePlaceOfAFolderOrAPipe) {
  const ScratchFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(TraceWriter{pipe}, EnvError);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THROW(TraceWriter{folder.path()}, EnvError);
}

}  // namespace
}  // namespace trireme
