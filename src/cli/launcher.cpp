// The variables of launchers, the nearest first: srun's stand in every process of a job step, also where
// mpirun was started within one.
#include "cli/launcher.h"

#include <array>
#include <cstdlib>
#include <optional>

#include "base/parse_text.h"

namespace trireme::cli {
namespace {

struct Launcher {
  const char* process;
  const char* processes;
};
// SLURM_NTASKS is also set in a batch script, outside any step.
constexpr std::array kLaunchers = {Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   Launcher{"PMI_RANK", "PMI_SIZE"},
                                   Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

std::optional<int> number_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return parse_number<int>(text);
}

}  // namespace

ProcessPlace process_place() {
  for (const Launcher& launcher : kLaunchers) {
    const auto process = number_from(launcher.process), processes = number_from(launcher.processes);
    if (process && processes && *process >= 0 && *process < *processes) return {*process, *processes};
  }
  return {};
}

}  // namespace trireme::cli
