// `trireme ckpt verify`: every byte against its checksum.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/exit_code.h"
#include "cli/ckpt_command.h"
#include "cli/ckpt_place.h"
#include "io/checkpoint/copy.h"
#include "io/store/s3_address.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string path;
  int threads = 2;
};

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

int verify(const Options& options) {
  const CheckpointPlace place = checkpoint_place(options.path);
  if (!place.name.empty() && !place.store->exists(place.name))
    fail_user("there is no checkpoint {}", place.store->locate(place.name));
  if (!place.name.empty()) return verify_one(*place.store, place.name, options.threads) ? 0 : kEnvironment;
  int result = 0;
  int64_t checked = 0;
  for (const CheckpointName& checkpoint : list_checkpoints(*place.store)) {
    if (!checkpoint.committed) {
      fmt::print("{}: not whole, its save was cut short; it is never read and the next save removes it\n",
                 checkpoint.name);
      continue;
    }
    ++checked;
    if (!verify_one(*place.store, checkpoint.name, options.threads)) result = kEnvironment;
  }
  if (checked == 0 && is_s3_url(options.path))
    fail_user("{} has no checkpoint: is it the right name?", options.path);
  if (checked == 0) fmt::print("no checkpoints in {}\n", place.store->locate(""));
  return result;
}

}  // namespace

void add_ckpt_verify(CLI::App& ckpt, Action& action) {
  const auto options = std::make_shared<Options>();  // shared by the parser's bindings and the action
  CLI::App* check = ckpt.add_subcommand("verify", "Reads every byte and holds it against its checksum");
  check
      ->add_option("RUN|DIR|S3", options->path,
                   "The run's folder, the folder of one checkpoint, or either in s3://bucket/prefix")
      ->required();
  check->add_option("--threads", options->threads, "Threads that read and hash")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  check->footer(
      "Exit code 0 when all are good, 3 when one is damaged.\n"
      "Example: trireme ckpt verify runs/demo/checkpoints/step-00000100");
  check->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace trireme::cli
