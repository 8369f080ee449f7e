// Run, folder of checkpoints, or checkpoint. A damaged one is an error: nobody is told which other one it
// would be.
#include "exchange/saved_run.h"

#include <filesystem>

#include "base/error.h"
#include "io/checkpoint/place.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

std::optional<std::string> tokenizer_of(const fs::path& checkpoints) {
  const fs::path folder = without_last_slash(fs::absolute(checkpoints).string());
  const std::string path = (folder.parent_path() / "tokenizer.json").string();
  std::error_code error;
  return fs::exists(path, error) ? std::optional(path) : std::nullopt;
}

}  // namespace

SavedRun open_saved_run(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    fail_user("there is no folder {}; name a run or a checkpoint like runs/demo/checkpoints/step-00000100",
              path);
  const auto one = named_checkpoint(path);
  const fs::path run = fs::path(without_last_slash(path)) / "checkpoints";
  const fs::path folder = one                            ? fs::path(one->in)
                          : fs::is_directory(run, error) ? run
                                                         : fs::path(without_last_slash(path));
  auto store = open_directory_store(folder.string());
  std::string name = one ? one->name : "";
  if (!one)
    for (const CheckpointName& found : committed_checkpoints(*store)) name = found.name;
  if (name.empty()) fail_user("{} has no checkpoint: train it first", path);
  CheckpointReader reader(*store, name);
  return {std::move(store), std::move(reader), tokenizer_of(folder)};
}

}  // namespace trireme
