// The subcommands of `trireme ckpt`, a file each; ckpt.cpp has their table.
#pragma once
#include "cli/command.h"

namespace trireme::cli {

void add_ckpt_ls(CLI::App& ckpt, Action& action);
void add_ckpt_verify(CLI::App& ckpt, Action& action);
void add_ckpt_push(CLI::App& ckpt, Action& action);
void add_ckpt_pull(CLI::App& ckpt, Action& action);
void add_ckpt_exchange(CLI::App& ckpt, Action& action);  // export and import

}  // namespace trireme::cli
