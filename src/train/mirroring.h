// What the log says of the mirror, and how long a run waits for it at its end. Called in the process of rank
// 0.
#pragma once
#include <utility>

#include "train/run_setup.h"

namespace trireme {

inline constexpr double kMirrorAtEnd_s = 3600;  // of a run that is done
inline constexpr double kMirrorAtStop_s = 20;   // of one that was told to stop, and will be started again

// Logs what the mirror has to say since the last call. `before` is called once before anything is.
template <class Before>
void say_mirrored(RunSetup& run, const Before& before) {
  if (!run.mirror) return;
  bool first = true;
  for (const MirrorNews& news : run.mirror->take_news()) {
    if (std::exchange(first, false)) before();
    if (news.kind == MirrorNews::Kind::warning)
      run.log.warn("{}", news.text);
    else
      run.log.info("{}", news.text);
  }
}

// Waits until all is copied, at most so long, and says what is not.
inline void finish_mirror(RunSetup& run, double at_most_s) {
  if (!run.mirror) return;
  (void)run.mirror->finish(at_most_s);
  say_mirrored(run, [] {});
}

}  // namespace trireme
