// Run, folder of checkpoints, or checkpoint. A damaged one is an error: nobody is told which other one it
// would be.
#include "exchange/saved_run.h"

#include <filesystem>

#include "base/error.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

std::optional<std::string> tokenizer_of(const fs::path& checkpoints) {
  fs::path folder = fs::absolute(checkpoints).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::string path = (folder.parent_path() / "tokenizer.json").string();
  std::error_code error;
  return fs::exists(path, error) ? std::optional(path) : std::nullopt;
}

}  // namespace

SavedRun open_saved_run(const std::string& path) {
  fs::path given = fs::path(path).lexically_normal();
  if (given.filename().empty()) given = given.parent_path();
  std::error_code error;
  if (!fs::is_directory(given, error))
    fail_user("there is no folder {}; name a run or a checkpoint like runs/demo/checkpoints/step-00000100",
              path);
  fs::path folder = given;
  std::string name;
  if (fs::is_directory(given / "checkpoints", error)) {
    folder = given / "checkpoints";
  } else if (step_of_name(given.filename().string())) {
    folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
    name = given.filename().string();
  }
  auto store = open_directory_store(folder.string());
  if (name.empty())
    for (const CheckpointName& found : list_checkpoints(*store))
      if (found.committed) name = found.name;
  if (name.empty()) fail_user("{} has no checkpoint: train it first", path);
  CheckpointReader reader(*store, name);
  return {std::move(store), std::move(reader), tokenizer_of(folder)};
}

}  // namespace trireme
