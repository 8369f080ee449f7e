// `trireme ckpt`: the checkpoints of a run, and a check of their every byte.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/exit_code.h"
#include "cli/command.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/names.h"
#include "io/store/directory_store.h"

namespace trireme::cli {
namespace {
namespace fs = std::filesystem;

struct CkptOptions {
  std::string path;
  int threads = 2;
};

// The folder of checkpoints that a path means: a run's, or that folder itself.
std::string checkpoints_folder(const std::string& path) {
  if (!fs::is_directory(path)) {
    fail_user("there is no folder {}; give a run's folder, for example runs/demo", path);
  }
  if (fs::is_directory(path + "/checkpoints")) return path + "/checkpoints";
  if (!list_checkpoints(*open_directory_store(path)).empty()) return path;
  if (fs::exists(path + "/config.toml")) return path + "/checkpoints";  // a run that saved nothing yet
  fail_user("{} is no run and holds no checkpoints; give a run's folder, for example runs/demo", path);
}

std::string size_text(int64_t bytes) {
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

int list(const CkptOptions& options) {
  const auto store = open_directory_store(checkpoints_folder(options.path));
  const std::vector<CheckpointName> found = list_checkpoints(*store);
  if (found.empty()) {
    fmt::print("no checkpoints in {}\n", store->locate(""));
    return 0;
  }
  int result = 0;
  fmt::print("{:<16} {:>10} {:>14} {:>8} {:>12}\n", "checkpoint", "step", "tokens", "tensors", "size");
  for (const CheckpointName& checkpoint : found) {
    if (!checkpoint.committed) {
      fmt::print("{:<16} {:>10} not whole: its save was cut short; the next save removes it\n",
                 checkpoint.name, checkpoint.step);
      continue;
    }
    try {
      const CheckpointReader reader(*store, checkpoint.name);
      fmt::print("{:<16} {:>10} {:>14} {:>8} {:>12}\n", checkpoint.name, checkpoint.step,
                 reader.meta().tokens_seen, reader.tensors().size(), size_text(reader.bytes()));
    } catch (const EnvError& error) {
      fmt::print("{:<16} {:>10} {}\n", checkpoint.name, checkpoint.step, error.what());
      result = kEnvironment;
    }
  }
  return result;
}

// True when it is whole.
bool verify_one(const ByteStore& store, const std::string& name, int threads) {
  const VerifyReport report = verify_checkpoint(store, name, {.threads = threads});
  if (report.faults.empty()) {
    fmt::print("{}: good, {} tensors, {}, every byte as written\n", name, report.tensors,
               size_text(report.bytes));
    return true;
  }
  fmt::print("{}: DAMAGED\n", name);
  for (const std::string& fault : report.faults) fmt::print("  {}\n", fault);
  return false;
}

int verify(const CkptOptions& options) {
  // Lexically: "runs/demo/checkpoints/step-00000100/" without its last slash.
  fs::path path = fs::path(options.path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (fs::is_directory(path) && step_of_name(path.filename().string())) {
    const auto store = open_directory_store(path.has_parent_path() ? path.parent_path().string() : ".");
    return verify_one(*store, path.filename().string(), options.threads) ? 0 : kEnvironment;
  }
  const auto store = open_directory_store(checkpoints_folder(options.path));
  int result = 0;
  int64_t checked = 0;
  for (const CheckpointName& checkpoint : list_checkpoints(*store)) {
    if (!checkpoint.committed) {
      fmt::print("{}: not whole, its save was cut short; it is never read and the next save removes it\n",
                 checkpoint.name);
      continue;
    }
    ++checked;
    if (!verify_one(*store, checkpoint.name, options.threads)) result = kEnvironment;
  }
  if (checked == 0) fmt::print("no checkpoints in {}\n", store->locate(""));
  return result;
}
}  // namespace

void add_ckpt(CLI::App& app, Action& action) {
  CLI::App* ckpt = app.add_subcommand("ckpt", "Lists and verifies the checkpoints of a run");
  ckpt->require_subcommand(1);
  ckpt->footer("Example: trireme ckpt ls runs/demo");
  const auto options = std::make_shared<CkptOptions>();  // shared by the parser's bindings and the actions

  CLI::App* ls = ckpt->add_subcommand("ls", "Lists a run's checkpoints: step, tokens seen, tensors, size");
  ls->add_option("RUN", options->path, "The run's folder, or its folder of checkpoints")->required();
  ls->footer(
      "Exit code 3 when a checkpoint's index or headers are damaged.\n"
      "Example: trireme ckpt ls runs/demo");
  ls->callback([options, &action] { action = [options] { return list(*options); }; });

  CLI::App* check = ckpt->add_subcommand("verify", "Reads every byte and holds it against its checksum");
  check->add_option("RUN|DIR", options->path, "The run's folder, or the folder of one checkpoint")
      ->required();
  check->add_option("--threads", options->threads, "Threads that read and hash")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  check->footer(
      "Exit code 0 when all are good, 3 when one is damaged.\n"
      "Example: trireme ckpt verify runs/demo/checkpoints/step-00000100");
  check->callback([options, &action] { action = [options] { return verify(*options); }; });
  add_ckpt_exchange(*ckpt, action);
}

}  // namespace trireme::cli
