// trireme: the table of subcommands, and where failures become exit codes.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

#include "base/error.h"
#include "cli/command.h"
#include "cli/version.h"

namespace trireme::cli {
namespace {

constexpr int kUserMistake = 2, kEnvironment = 3;

constexpr std::array<AddCommand, 8> kCommands = {add_train,    add_tokenizer, add_data,    add_eval,
                                                 add_generate, add_ckpt,      add_compile, add_config};

int run(int argc, char** argv) {
  CLI::App app("Pre-trains transformer language models.", "trireme");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Example: trireme train configs/tiny.toml");
  Action action;
  for (const AddCommand add : kCommands) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUserMistake;
  }
  try {
    return action();
  } catch (const UserError& error) {
    std::fprintf(stderr, "trireme: %s\n", error.what());
    return kUserMistake;
  } catch (const EnvError& error) {
    std::fprintf(stderr, "trireme: %s\n", error.what());
    return kEnvironment;
  }
}

}  // namespace
}  // namespace trireme::cli

int main(int argc, char** argv) { return trireme::cli::run(argc, argv); }
