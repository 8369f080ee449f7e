// The training loop, on as many ranks as the config asks for.
#pragma once
#include "config/run_spec.h"
#include "train/ranks.h"
#include "train/resume.h"
#include "train/run_setup.h"
#include "train/stop_signals.h"

namespace trireme {

// Trains as the config says, from its beginning or a checkpoint. Returns the exit code of a run that ended as
// it should: kDone or kStoppedAndSaved. UserError and EnvError end it; the newest checkpoint stands.
int train(const RunSpec& spec, const ResumeChoice& resume, const S3Options& s3);

// The loop of one rank, from where the run stands to its end; returns as train() does.
int train_rank(RunSetup& setup, RankLink& link, const StopSignals& signals);

}  // namespace trireme
