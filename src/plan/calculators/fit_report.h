// Whether a run fits its devices: by formula from bare numbers, or by the plan that a config's Programs have.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "compile/compile.h"
#include "config/run_spec.h"
#include "plan/calculators/activation_bytes.h"
#include "plan/calculators/state_bytes.h"
#include "plan/calculators/worked.h"

namespace trireme {

struct DeviceMemory {
  double bytes = 0;      // for the run: what drivers and libraries keep taken off
  std::string what;      // "h100-sxm (85.5 GB, 3.2 GB of it kept by its libraries)"
  bool of_node = false;  // its ranks share it, so that more of them make it less
};

struct FitNumbers {
  double parameters = 0;
  int64_t devices = 1;  // tp x data-parallel ranks; tp divides it
  int64_t tp = 1;
  OptimizerKind optimizer = OptimizerKind::adamw;
  Compute compute = Compute::bf16;
  std::optional<ActivationShape> shape;
  Saved saved = Saved::no_scores;  // what is added to the state
  std::optional<DeviceMemory> memory;
};
// Keys: "published_zero0" to "3" and "trireme_zero0" to "3": bytes of state a device; "*_per_parameter";
// activation_bytes.h's; "total_zero0" to "3" where there is a memory to fit.
Answer fit_numbers(const FitNumbers& input);

// Of the fullest rank of the config's pipeline, part by part: keys "memory_master", ..., "arena", "spare";
// beside it the formulas at the config's numbers. `options` are those that the run would be compiled with.
Answer fit_config(const RunSpec& spec, const CompileOptions& options,
                  const std::optional<DeviceMemory>& memory);

}  // namespace trireme
