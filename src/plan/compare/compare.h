// A run that was measured against the same run as it is predicted, part by part, and which assumption was
// off.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/run_spec.h"
#include "plan/compare/run_record.h"
#include "plan/compare/step_totals.h"
#include "sim/simulate.h"

namespace trireme {

enum class ComparedUnit : uint8_t { seconds, tokens_per_s, percent, bytes };

// One thing that both sides know. NaN where the run did not record it.
struct ComparedLine {
  std::string what;
  double measured = 0, predicted = 0;
  ComparedUnit unit = ComparedUnit::seconds;
};

struct ComparedGroup {
  std::string title;
  std::vector<ComparedLine> lines;
};

// A part of the difference between the steps' times, in words; negative where the run was faster.
struct Off {
  std::string text;
  double seconds = 0;  // a step
};

struct Comparison {
  std::vector<ComparedGroup> groups;
  std::vector<Off> off;  // those that add up to the difference, largest first
  std::string verdict;
};

struct Prediction {
  const SimulationInput& input;
  const StepSimulation& step;
};

// `traced`: by the number of the step, what its trace files say; may be empty.
Comparison compare(const RunSpec& spec, const Prediction& prediction, const RunRecord& run,
                   const std::map<int64_t, StepTotals>& traced);

// A table per group, then what was off.
std::string to_text(const Comparison& comparison);
// The same numbers unrounded, and the machines; null where the run did not record one.
std::string to_json(const Comparison& comparison, const Cluster& cluster);

// One digit more than a prediction alone is worth: two times are held against each other.
std::string compared_s(double seconds);

}  // namespace trireme
