// What a path or URL of checkpoints means, said once for all commands. Where one is looked for besides (a
// run's folder, a folder of checkpoints) is for the commands to say.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"

namespace trireme {

// One checkpoint, and the folder or s3://bucket/prefix that it lies in.
struct NamedCheckpoint {
  std::string in;
  std::string name;
};

// Of ".../step-00000100": a URL that ends so, or a folder that is called so and is no run (which may be
// called so as well). Nothing for any other path.
std::optional<NamedCheckpoint> named_checkpoint(const std::string& path);

// Lexically: "runs/demo" of "runs//demo/".
std::string without_last_slash(const std::string& path);

// By step, ascending.
std::vector<CheckpointName> committed_checkpoints(const ByteStore& store);

}  // namespace trireme
