// What a simulation found, for people and for machines.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/failures.h"
#include "sim/rates.h"
#include "sim/simulate.h"

namespace trireme::cli {

struct CauseCost {
  std::string cause;  // "--slow rank=3:1.3x"
  double step_s = 0;  // with it alone
};

// A mean time between failures, and what the run then takes.
struct ExpectedRun {
  double mtbf_hours = 0;  // of a rank
  double total_s = 0;     // kNever_s or more: it never ends
  double goodput = 0;
};
inline constexpr double kNever_s = 1e12;  // longer than 30,000 years

struct Simulated {
  int64_t ranks = 1;
  StepRates rates;
  double undisturbed_s = 0;
  std::vector<CauseCost> causes;
  bool saves_are_free = false;  // no rate to where checkpoints lie
  std::optional<RunTime> no_failures, with_failures;
  size_t failures = 0;
  std::optional<ExpectedRun> expected;
};

std::string step_text(const Simulated& found, const Cluster& cluster, const StepSimulation& step);
std::string costs_text(const Simulated& found, const StepSimulation& step);
std::string to_json(const Simulated& found, const SimulationInput& input, const StepSimulation& step);

}  // namespace trireme::cli
