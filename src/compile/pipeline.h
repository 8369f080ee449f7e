// The schedule that a config asks for, proven before anything is lowered: from the catalog, from the text of
// parallel.schedule_file, or gradients accumulated on one rank where there is no pipeline.
#pragma once
#include "config/run_spec.h"
#include "schedule/schedule.h"

namespace trireme {

// A training step of all ranks of the pipeline. UserError where the schedule does not suit parallel.pp,
// parallel.virtual_stages, the micro-batches of a step or batch.lanes; EnvError when its file could not be
// read.
Schedule make_pipeline(const RunSpec& spec);

}  // namespace trireme
