// News of the mirror, and its last ones.
#include "train/mirroring.h"

#include <algorithm>

#include "base/clock.h"

namespace trireme {
namespace {

constexpr double kLook_s = 0.1;  // between looks at the signals

}  // namespace

void say_mirrored(RunSetup& run, const std::function<void()>& before) {
  if (!run.mirror) return;
  const std::vector<MirrorNews> all = run.mirror->take_news();
  if (!all.empty()) before();
  for (const MirrorNews& news : all) {
    if (news.kind == MirrorNews::Kind::warning)
      run.log.warn("{}", news.text);
    else
      run.log.info("{}", news.text);
  }
}

void finish_mirror(RunSetup& run, double at_most_s, const StopSignals& signals) {
  if (!run.mirror) return;
  run.mirror->try_again();
  const double start = seconds_now();
  const auto left_s = [&] {
    const double patience_s = signals.requests() > 0 ? std::min(at_most_s, kMirrorWhenStopped_s) : at_most_s;
    return start + patience_s - seconds_now();
  };
  while (left_s() > 0 && !run.mirror->wait(kLook_s)) {
  }
  (void)run.mirror->finish(0);
  say_mirrored(run, [] {});
}

}  // namespace trireme
