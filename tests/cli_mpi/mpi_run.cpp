// Arguments of mpirun.
#include "cli_mpi/mpi_run.h"

#include <unistd.h>

#include <filesystem>

namespace trireme {

Settings with(const Settings& more) { return overlaid(overlaid(kFourLanes, {{"run.timeout_s", "5"}}), more); }

// Arguments of mpirun for `trireme train`. What MPI keeps in shared memory goes to a folder of this run, so
// that leftovers can be told from those of others.
Arguments mpirun(const TinyRun& tiny, int processes, const Settings& settings, const Arguments& more) {
  const std::string shared = tiny / "shared";
  std::filesystem::create_directories(shared);
  Arguments arguments = {"--oversubscribe", "--bind-to", "none", "-n", std::to_string(processes)};
  if (geteuid() == 0) arguments.push_back("--allow-run-as-root");
  for (const char* key : {"btl_vader_backing_directory", "osc_sm_backing_directory", "orte_tmpdir_base"})
    arguments.insert(arguments.end(), {"--mca", key, shared});
  arguments.push_back(TRIREME_BINARY);
  const Arguments train = TinyRun::train_arguments(settings, more);
  arguments.insert(arguments.end(), train.begin(), train.end());
  return arguments;
}

Outcome train(const TinyRun& tiny, int processes, const Settings& settings, const Arguments& more) {
  return Process(mpirun(tiny, processes, settings, more), tiny.path(), "mpirun").wait();
}

}  // namespace trireme
