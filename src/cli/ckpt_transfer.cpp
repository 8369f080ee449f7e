// `trireme ckpt push` and `pull`: checkpoints from a run into a store, and back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/ckpt_command.h"
#include "cli/ckpt_place.h"
#include "io/checkpoint/copy.h"
#include "io/checkpoint/place.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string from, to;
  int threads = 4;
};

void copy(const ByteStore& from, const std::string& name, ByteStore& to, const Options& options) {
  const CopyReport report = copy_checkpoint(
      from, name, to, {.if_there = IfThere::read_back, .threads = options.threads, .stop = {}});
  if (report.kind == CopyReport::Kind::was_there)
    fmt::print("{} is there already, every byte as written\n", report.location);
  else
    fmt::print("{}: {}, every byte read back as written\n", report.location, describe(report));
  std::fflush(stdout);
}

std::vector<std::string> chosen(const CheckpointPlace& place, const std::string& argument) {
  if (!place.name.empty()) return {place.name};
  std::vector<std::string> names;
  for (const CheckpointName& checkpoint : committed_checkpoints(*place.store))
    names.push_back(checkpoint.name);
  if (names.empty()) fail_user("{} has no checkpoint to copy: train it first, or look at the name", argument);
  return names;
}

int push(const Options& options) {
  const CheckpointPlace from = checkpoint_place(options.from);
  const auto to = place_for_copies(options.to);
  for (const std::string& name : chosen(from, options.from)) copy(*from.store, name, *to, options);
  return 0;
}

int pull(const Options& options) {
  const CheckpointPlace from = checkpoint_place(options.from);
  const auto to = place_for_copies(options.to);
  copy(*from.store, chosen(from, options.from).back(), *to, options);
  return 0;
}

void add_threads(CLI::App& command, Options& options) {
  command.add_option("--threads", options.threads, "Requests at once, and threads that hash")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

}  // namespace

void add_ckpt_push(CLI::App& ckpt, Action& action) {
  const auto options = std::make_shared<Options>();  // shared by the parser's bindings and the action
  CLI::App* command =
      ckpt.add_subcommand("push", "Copies a run's checkpoints, or one, into a store and reads them back");
  command->add_option("RUN|DIR", options->from, "The run's folder, or the folder of one checkpoint")
      ->required();
  command->add_option("S3|DIR", options->to, "s3://bucket/prefix, or a folder")->required();
  add_threads(*command, *options);
  command->footer(
      "A copy is committed only after every byte was read back. What is there already is left; a copy that "
      "was\n"
      "cut short is completed. docs/object-storage.md has the variables for endpoint and credentials.\n"
      "Example: trireme ckpt push runs/demo s3://bucket/demo");
  command->callback([options, &action] { action = [options] { return push(*options); }; });
}

void add_ckpt_pull(CLI::App& ckpt, Action& action) {
  const auto options = std::make_shared<Options>();  // shared by the parser's bindings and the action
  CLI::App* command =
      ckpt.add_subcommand("pull", "Copies the newest checkpoint of a store, or a named one, into a run");
  command->add_option("S3|DIR", options->from, "s3://bucket/prefix, with or without /step-...; or a folder")
      ->required();
  command->add_option("RUN", options->to, "The run's folder, which may be new, or a folder of checkpoints")
      ->required();
  add_threads(*command, *options);
  command->footer("Example: trireme ckpt pull s3://bucket/demo/step-00000100 runs/demo");
  command->callback([options, &action] { action = [options] { return pull(*options); }; });
}

}  // namespace trireme::cli
