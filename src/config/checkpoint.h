// [checkpoint]: when the run is saved, where to, and how many saves are kept. One is always saved at the end.
#pragma once
#include <string>

#include "config/field.h"

namespace trireme {

// What a run does when a checkpoint could not be saved. go_on ("continue"): it warns and tries again when the
// next one is due; the last one of a run must be saved in any case.
enum class OnSaveFailure : uint8_t { stop, go_on };
std::span<const std::string_view> names_of_values(OnSaveFailure);

template <template <class> class As>
struct CheckpointKeys {
  As<int64_t> every_steps{};       // 0: not by steps
  As<double> every_minutes{};      // 0: not by the clock
  As<int64_t> keep{};              // newest ones kept; 0: all
  As<int64_t> keep_every_steps{};  // those of steps that it divides stay for ever; 0: none
  As<bool> async{};                // written behind the steps that follow, from a copy in memory
  As<OnSaveFailure> on_failure{};
  std::optional<std::string> notice;  // a file whose appearance, or a URL whose answer, announces preemption
  As<double> notice_every_s{};        // between looks at it
  std::optional<std::string> mirror;  // s3://bucket/prefix or a folder: gets a copy of every checkpoint
};

using CheckpointSpec = CheckpointKeys<Plain>;
using RawCheckpoint = CheckpointKeys<Maybe>;

}  // namespace trireme
