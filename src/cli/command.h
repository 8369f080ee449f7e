// A subcommand of `trireme`: its file adds options to the CLI11 app and returns what to run after
// parsing. main.cpp holds the table of all of them.
#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace trireme::cli {

// Adds one subcommand (name, options, --help with an example) to `app`. On selection the parsed options
// are run by calling `action`'s function, which returns the exit code. UserError and EnvError may escape it.
using Action = std::function<int()>;
using AddCommand = void (*)(CLI::App& app, Action& action);

void add_train(CLI::App& app, Action& action);
void add_tokenizer(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_ckpt(CLI::App& app, Action& action);
void add_compile(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_compare_run(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_config(CLI::App& app, Action& action);
void add_fit(CLI::App& app, Action& action);
void add_flops(CLI::App& app, Action& action);
void add_mfu(CLI::App& app, Action& action);
void add_hours(CLI::App& app, Action& action);
void add_cost(CLI::App& app, Action& action);
void add_interval(CLI::App& app, Action& action);
void add_lr(CLI::App& app, Action& action);

}  // namespace trireme::cli
