// Whether mpirun or srun started this process, as one of several.
#pragma once
#include "train/process_run.h"

namespace trireme::cli {

// From the environment; one process where no launcher is known by its variables.
ProcessPlace process_place();

}  // namespace trireme::cli
