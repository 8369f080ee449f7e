// trireme: the table of subcommands, and where failures become exit codes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/ending.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "base/suggestion.h"
#include "cli/command.h"
#include "cli/version.h"

namespace trireme::cli {
namespace {

constexpr std::array kCommands = {add_train,     add_tokenizer, add_data,  add_eval,     add_generate,
                                  add_ckpt,      add_compile,   add_plan,  add_simulate, add_compare_run,
                                  add_calibrate, add_fit,       add_flops, add_mfu,      add_hours,
                                  add_cost,      add_interval,  add_lr,    add_config};

// "trireme: there is no subcommand trian; did you mean train?", or "" when the first argument is one.
std::string unknown_subcommand(const CLI::App& app, int argc, char** argv) {
  const std::string given = argc > 1 ? argv[1] : "";
  if (given.empty() || given.starts_with("-")) return "";
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), given) != names.end()) return "";
  return fmt::format("trireme: there is no subcommand {}; {}\n", given,
                     did_you_mean(given, names, "there are"));
}

int run(int argc, char** argv) {
  CLI::App app("Pre-trains transformer language models.", "trireme");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer("Example: trireme train configs/tiny.toml");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "trireme: " + std::string(error.what()) + "; --help shows what there is\n";
  });
  Action action;
  for (const AddCommand add : kCommands) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_subcommand(app, argc, argv);
    if (unknown.empty()) return app.exit(error) == 0 ? kDone : kUserMistake;
    std::fputs(unknown.c_str(), stderr);
    return kUserMistake;
  }
  try {
    return action();
  } catch (...) {
    const Ending ending = ending_of(std::current_exception());
    report(ending);
    return ending.exit_code;
  }
}

}  // namespace
}  // namespace trireme::cli

int main(int argc, char** argv) { return trireme::cli::run(argc, argv); }
