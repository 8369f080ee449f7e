// The weights that every rank begins with: drawn, or of a checkpoint, in whatever layout that was written.
#pragma once
#include "engine/engine.h"
#include "model/model.h"
#include "train/ranks.h"
#include "train/run_setup.h"

namespace trireme {

// Every rank calls it. Where a checkpoint shows to be damaged as it is read, by any rank, all go back to the
// next older one, with a warning that names the piece; run.checkpoint and run.start become that one's.
// EnvError when there is none, or when that one checkpoint was asked for.
void give_weights(RunSetup& run, RankLink& link, Engine& engine, const Model& model);

}  // namespace trireme
