// Path to config to checkpoint to tokenizer.
#include "train/open_run.h"

#include <filesystem>

#include "base/error.h"
#include "train/machine.h"
#include "train/run_folder.h"

namespace trireme {
namespace {

// The run keeps a copy of its tokenizer, so that it can be moved; the config's own path serves where there is
// none.
std::optional<Tokenizer> run_tokenizer(const RunSpec& spec, const std::string& run_path) {
  const std::string copy = RunFolder{run_path}.tokenizer();
  std::error_code error;
  if (std::filesystem::exists(copy, error)) return load_tokenizer(copy);
  if (!spec.data.tokenizer) return std::nullopt;
  if (!std::filesystem::exists(*spec.data.tokenizer, error))
    fail_user(
        "data.tokenizer = {} is not there, and copies of checkpoints have no tokenizer: give --set "
        "data.tokenizer=PATH",
        *spec.data.tokenizer);
  return load_tokenizer(*spec.data.tokenizer);
}

}  // namespace

OpenRun open_run(const std::string& path, const std::vector<std::string>& overrides, const S3Options& s3,
                 Log& log) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    const RunSpec spec = load_config(path, overrides);
    const std::string run = run_folder(spec).path;
    if (!fs::is_directory(run, error))
      fail_user("{} names the run {}, which is not there: train it first", path, run);
    OpenCheckpoint checkpoint = open_checkpoint(run, s3, thread_count(spec), log);
    check_same_run(spec, checkpoint.reader.meta(), log);
    return {spec, std::move(checkpoint), run_tokenizer(spec, run)};
  }
  OpenCheckpoint checkpoint = open_checkpoint(path, s3, 1, log);
  const RunSpec spec =
      parse_config(checkpoint.reader.meta().config_toml, checkpoint.reader.location(), overrides);
  check_same_run(spec, checkpoint.reader.meta(), log);
  const fs::path run = fs::absolute(checkpoint.reader.location()).parent_path().parent_path();
  return {spec, std::move(checkpoint), run_tokenizer(spec, run.string())};
}

}  // namespace trireme
