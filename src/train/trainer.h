// The training loop, on as many ranks as the config asks for.
#pragma once
#include "config/run_spec.h"
#include "train/resume.h"

namespace trireme {

// Trains as the config says, from its beginning or a checkpoint. Returns the exit code of a run that ended as
// it should: kDone or kStoppedAndSaved. UserError and EnvError end it; the newest checkpoint stands.
int train(const RunSpec& spec, const ResumeChoice& resume);

}  // namespace trireme
