// The variables of launchers, the nearest first: srun's stand in every process of a job step, also where
// mpirun was started within one.
#include "cli/launcher.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

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
  const std::string_view digits(text);
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
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
