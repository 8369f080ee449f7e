// What the log says of the mirror, and how long a run waits for it at its end. Called in the process of rank
// 0.
#pragma once
#include <functional>

#include "train/run_setup.h"
#include "train/stop_signals.h"

namespace trireme {

// Logs what the mirror has to say since the last call; `before` is called once before anything is.
void say_mirrored(RunSetup& run, const std::function<void()>& before);

// How long a run waits at its end until all is copied: one that is done, and one that was told to stop and
// will be started again.
inline constexpr double kMirrorWhenDone_s = 3600;
inline constexpr double kMirrorWhenStopped_s = 10;

// Waits so long, less once a signal has come, and says what is not copied.
void finish_mirror(RunSetup& run, double at_most_s, const StopSignals& signals);

}  // namespace trireme
