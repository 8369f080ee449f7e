// The real binary under mpirun, in a TinyRun's workplace.
#pragma once
#include "cli/tiny_run.h"

namespace trireme {

// Settings of a run that any number of data-parallel ranks up to 4 gives the same bits; `more` beside them.
Settings with(const Settings& more);

// Arguments of mpirun for `trireme train`. What MPI keeps in shared memory goes to a folder of this run, so
// that leftovers can be told from those of others.
Arguments mpirun(const TinyRun& tiny, int processes, const Settings& settings, const Arguments& more = {});

Outcome train(const TinyRun& tiny, int processes, const Settings& settings, const Arguments& more = {});

}  // namespace trireme
