// [run]: the name, place, length and machine of a run.
#pragma once
#include <string>
#include <vector>

#include "config/field.h"

namespace trireme {

// automatic ("auto") is what a user may write; resolve turns it into the best device of this build.
enum class DeviceKind : uint8_t { automatic, cpu, null };
std::span<const std::string_view> names_of_values(DeviceKind);

template <template <class> class As>
struct RunKeys {
  As<std::string> name{};  // a folder name: dir/name holds what the run leaves behind
  As<std::string> dir{};   // relative to where the command runs
  As<int64_t> steps{};     // optimizer steps
  As<int64_t> seed{};      // of the weights, and of the sample order unless data.seed is given
  As<DeviceKind> device{};
  std::optional<int64_t> threads;          // cores used by all ranks of this process; absent: all it may use
  std::optional<double> peak_flops;        // of the machine per second, for MFU; absent: measured at start
  As<int64_t> max_skipped_steps{};         // as many NaN or Inf steps in a row end the run
  As<double> timeout_s{};                  // how long ranks wait for one another
  As<double> max_minutes{};                // of wall clock, from the start of the process; 0: no limit
  As<int64_t> log_every_steps{};           // of the progress line; metrics.jsonl has every step
  As<std::vector<int64_t>> trace_steps{};  // optimizer steps whose actions are traced
};

using RunOptions = RunKeys<Plain>;
using RawRun = RunKeys<Maybe>;

}  // namespace trireme
