// What the log says of the mirror, and how long a run waits for it at its end. Called in the process of rank
// 0.
#pragma once
#include <functional>

#include "train/run_setup.h"
#include "train/stop_signals.h"

namespace trireme {

// Logs what the mirror has to say since the last call; `before` is called once before anything is.
void say_mirrored(RunSetup& run, const std::function<void()>& before);

// Waits until all is copied, and says what is not: an hour where the run is done; some seconds where it was
// told to stop and will be started again, or as soon as it is told so.
enum class MirrorPatience : uint8_t { done, stopped };
void finish_mirror(RunSetup& run, MirrorPatience ending, const StopSignals& signals);

}  // namespace trireme
