// The training loop, on as many ranks as the config asks for.
#pragma once
#include "config/run_spec.h"
#include "train/resume.h"

namespace trireme {

// Exit codes of a run that ended as it should: done, or stopped by a signal with a checkpoint saved.
inline constexpr int kDone = 0;
inline constexpr int kStoppedAndSaved = 75;

// Trains as the config says, from its beginning or a checkpoint. UserError and EnvError end it; the newest
// checkpoint stands.
int train(const RunSpec& spec, const ResumeChoice& resume);

}  // namespace trireme
