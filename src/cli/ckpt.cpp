// `trireme ckpt`: the checkpoints of a run.
#include <CLI/CLI.hpp>

#include "cli/ckpt_command.h"
#include "cli/command.h"

namespace trireme::cli {

void add_ckpt(CLI::App& app, Action& action) {
  CLI::App* ckpt = app.add_subcommand("ckpt", "Lists, verifies and copies the checkpoints of a run");
  ckpt->require_subcommand(1);
  ckpt->footer("Example: trireme ckpt ls runs/demo");
  add_ckpt_ls(*ckpt, action);
  add_ckpt_verify(*ckpt, action);
  add_ckpt_push(*ckpt, action);
  add_ckpt_pull(*ckpt, action);
  add_ckpt_exchange(*ckpt, action);
}

}  // namespace trireme::cli
