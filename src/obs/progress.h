// The live progress line of a run. On a terminal it redraws itself in place, at most ten times a second; in
// a file or pipe it is a plain line, at most one a second. The first and the last step always show.
#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace trireme {

struct Progress {
  int64_t step = 0;   // optimizer steps done
  int64_t steps = 0;  // of the whole run
  double loss = 0;
  double grad_norm = 0;
  double lr = 0;
  double tokens_per_s = 0;    // 0: not known yet
  std::optional<double> mfu;  // 0..1; empty shows n/a
  double step_s = 0;          // mean seconds per step, for the time left; 0: not known yet
};

std::string progress_text(const Progress& progress);  // "step 120/500  loss 3.2101  ..."

enum class ProgressStyle { off, lines, redraw };
ProgressStyle progress_style_of(std::FILE* out);  // redraw on a terminal, else lines

class ProgressLine {
 public:
  ProgressLine(std::FILE* out, ProgressStyle style) : out_(out), style_(style) {}

  // Shows it if it is time to; `now_s` is any steady clock.
  void update(const Progress& progress, double now_s);
  // Leaves the last line standing and moves below it: before other output, and at the end.
  void finish();

 private:
  void show();

  std::FILE* out_;
  ProgressStyle style_;
  double shown_s_ = 0;
  bool any_ = false;
  bool open_ = false;    // a redrawn line stands without its newline
  std::string pending_;  // newest text not shown yet
};

}  // namespace trireme
