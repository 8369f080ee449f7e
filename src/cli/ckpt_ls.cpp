// `trireme ckpt ls`: a line per checkpoint.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/exit_code.h"
#include "cli/ckpt_command.h"
#include "cli/ckpt_place.h"
#include "io/checkpoint/copy.h"

namespace trireme::cli {
namespace {

int list(const std::string& path) {
  const CheckpointPlace place = checkpoint_place(path);
  std::vector<CheckpointName> found = list_checkpoints(*place.store);
  if (!place.name.empty())
    std::erase_if(found, [&](const CheckpointName& checkpoint) { return checkpoint.name != place.name; });
  if (found.empty()) {
    fmt::print("no checkpoints in {}\n", place.store->locate(place.name));
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
      const CheckpointReader reader(*place.store, checkpoint.name);
      fmt::print("{:<16} {:>10} {:>14} {:>8} {:>12}\n", checkpoint.name, checkpoint.step,
                 reader.meta().tokens_seen, reader.tensors().size(), size_text(reader.bytes()));
    } catch (const EnvError& error) {
      fmt::print("{:<16} {:>10} {}\n", checkpoint.name, checkpoint.step, error.what());
      result = kEnvironment;
    }
  }
  return result;
}

}  // namespace

void add_ckpt_ls(CLI::App& ckpt, Action& action) {
  const auto path = std::make_shared<std::string>();  // shared by the parser's binding and the action
  CLI::App* ls = ckpt.add_subcommand("ls", "Lists a run's checkpoints: step, tokens seen, tensors, size");
  ls->add_option("RUN|S3", *path, "The run's folder, its folder of checkpoints, or s3://bucket/prefix")
      ->required();
  ls->footer(
      "Exit code 3 when a checkpoint's index or headers are damaged.\n"
      "Example: trireme ckpt ls runs/demo");
  ls->callback([path, &action] { action = [path] { return list(*path); }; });
}

}  // namespace trireme::cli
