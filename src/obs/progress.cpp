// What the progress line says, and when it is drawn.
#include "obs/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace trireme {
namespace {
constexpr double kRedrawEvery_s = 0.1;
constexpr double kLineEvery_s = 1.0;

std::string rate_text(double per_s) {
  if (per_s <= 0) return "-";
  if (per_s < 10'000) return fmt::format("{:.0f}", per_s);
  if (per_s < 10'000'000) return fmt::format("{:.1f}k", per_s / 1e3);
  return fmt::format("{:.1f}M", per_s / 1e6);
}

std::string time_left_text(double seconds) {
  const auto s = static_cast<int64_t>(std::ceil(seconds));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  if (s < 48 * 3600) return fmt::format("{}h{:02}", s / 3600, s / 60 % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}
}  // namespace

std::string progress_text(const Progress& progress) {
  const std::string total = fmt::format("{}", progress.steps);
  std::string text = fmt::format("step {:>{}}/{}  loss {:.4f}  grad {:.3g}  lr {:.2e}  {} tok/s",
                                 progress.step, total.size(), total, progress.loss, progress.grad_norm,
                                 progress.lr, rate_text(progress.tokens_per_s));
  text += progress.mfu ? fmt::format("  mfu {:.1f}%", *progress.mfu * 100) : std::string("  mfu n/a");
  const int64_t left = std::max<int64_t>(progress.steps - progress.step, 0);
  const double left_s = progress.step_s * static_cast<double>(left);
  // Beyond a century the estimate says nothing, and would not fit an integer.
  const bool known = progress.step_s > 0 && left_s < 3.2e9;
  return text + "  eta " + (known || left == 0 ? time_left_text(left_s) : std::string("-"));
}

ProgressStyle progress_style_of(std::FILE* out) {
  return ::isatty(::fileno(out)) == 1 ? ProgressStyle::redraw : ProgressStyle::lines;
}

void ProgressLine::update(const Progress& progress, double now_s) {
  if (style_ == ProgressStyle::off) return;
  const double every_s = style_ == ProgressStyle::redraw ? kRedrawEvery_s : kLineEvery_s;
  const bool due = !any_ || progress.step >= progress.steps || now_s - shown_s_ >= every_s;
  pending_ = progress_text(progress);
  if (!due) return;
  any_ = true;
  shown_s_ = now_s;
  show();
}

void ProgressLine::finish() {
  if (!pending_.empty()) show();
  if (open_) std::fputc('\n', out_);
  std::fflush(out_);
  open_ = false;
}

void ProgressLine::show() {
  const bool redraw = style_ == ProgressStyle::redraw;
  // One write: a log line of another thread stands before or after it, not within.
  const std::string line = redraw ? "\r\x1b[K" + pending_ : pending_ + "\n";
  std::fwrite(line.data(), 1, line.size(), out_);
  std::fflush(out_);
  open_ = redraw;
  pending_.clear();
}

}  // namespace trireme
