// A checkpoint of ours, to take its weights: those of the newest step of a run, or one that is named.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "io/checkpoint/checkpoint.h"

namespace trireme {

struct SavedRun {
  std::unique_ptr<ByteStore> store;
  CheckpointReader reader;
  std::optional<std::string> tokenizer;  // path of the run's tokenizer.json, where there is one
};

// UserError when there is no checkpoint; EnvError when its index or headers are damaged.
SavedRun open_saved_run(const std::string& path);

}  // namespace trireme
