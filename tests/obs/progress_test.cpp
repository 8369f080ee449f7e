// What the line says and how often it shows.
#include "obs/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;

const Progress kProgress{.step = 20,
                         .steps = 500,
                         .loss = 3.21014,
                         .grad_norm = 0.5123,
                         .lr = 3e-4,
                         .tokens_per_s = 12345,
                         .mfu = 0.4567,
                         .step_s = 0.25};

TEST(Progress, SaysEverything) {
  EXPECT_EQ(progress_text(kProgress),
            "step  20/500  loss 3.2101  grad 0.512  lr 3.00e-04  12.3k tok/s  mfu 45.7%  eta 2:00");
}

TEST(Progress, UnknownsAndLargeNumbers) {
  Progress first{.step = 1, .steps = 1000000, .loss = 5, .grad_norm = 1e10, .lr = 0};
  EXPECT_EQ(progress_text(first),
            "step       1/1000000  loss 5.0000  grad 1e+10  lr 0.00e+00  - tok/s  mfu n/a  eta -");
  first.step_s = 1;
  EXPECT_TRUE(progress_text(first).ends_with("eta 11d13h"));
  first.step_s = 1e300;
  EXPECT_TRUE(progress_text(first).ends_with("eta -"));
  first.step_s = 0.01;
  EXPECT_TRUE(progress_text(first).ends_with("eta 2h46"));
  first.step = first.steps;
  EXPECT_TRUE(progress_text(first).ends_with("eta 0:00"));
}

// What update() at each time writes, and finish() after.
std::string output(ProgressStyle style, const std::vector<double>& times_s) {
  const ScratchFolder folder;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen((folder / "out").c_str(), "w"),
                                                            std::fclose);
  ProgressLine line(out.get(), style);
  Progress progress = kProgress;
  for (const double now_s : times_s) {
    line.update(progress, now_s);
    ++progress.step;
  }
  line.finish();
  return slurp(folder / "out");
}

TEST(Progress, RedrawsAtMostTenTimesASecond) {
  std::vector<double> times_s;
  for (int i = 0; i < 400; ++i) times_s.push_back(i * 0.005);  // two seconds
  const std::string text = output(ProgressStyle::redraw, times_s);
  const auto drawn = std::count(text.begin(), text.end(), '\r');
  EXPECT_GE(drawn, 18);
  EXPECT_LE(drawn, 22);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_NE(text.find("step 419/500"), std::string::npos) << "finish() shows the newest";
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, PlainLinesOnceASecond) {
  const std::string text = output(ProgressStyle::lines, {0, 0.3, 0.9, 1.0, 1.2});
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find("step  20/500"), std::string::npos);
  EXPECT_NE(text.find("step  23/500"), std::string::npos);
  EXPECT_NE(text.find("step  24/500"), std::string::npos);
}

TEST(Progress, TheLastStepAlwaysShowsAndOffShowsNothing) {
  EXPECT_EQ(output(ProgressStyle::off, {0, 1, 2}), "");
  const ScratchFolder folder;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen((folder / "out").c_str(), "w"),
                                                            std::fclose);
  EXPECT_EQ(progress_style_of(out.get()), ProgressStyle::lines);
  ProgressLine line(out.get(), ProgressStyle::lines);
  line.update({.step = 1, .steps = 2}, 0);
  line.update({.step = 2, .steps = 2}, 0.001);
  line.finish();
  EXPECT_NE(slurp(folder / "out").find("step 2/2"), std::string::npos);
}

}  // namespace
}  // namespace trireme
