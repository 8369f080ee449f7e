// `trireme compile`: what would run, and what it needs, without running it.
#include "compile/compile.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/overrides.h"
#include "compile/comm_report.h"
#include "compile/memory_report.h"
#include "compile/pipeline.h"
#include "compile/timeline_text.h"
#include "ir/text.h"
#include "train/machine.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string config, print = "memory", purpose = "training";
  int64_t rank = 0;
  std::vector<std::string> overrides;
  std::optional<int64_t> ranks;
};

CompileOptions compile_options(const Options& options, const RunSpec& spec) {
  CompileOptions compiling;
  compiling.threads = thread_count(spec);
  compiling.rank = static_cast<int>(options.rank);
  if (options.purpose == "training")
    compiling.threads = std::max(1, compiling.threads / static_cast<int>(all_ranks(spec)));
  if (options.purpose == "generation") compiling.purpose = Purpose::generation;
  if (options.purpose == "evaluation") compiling.purpose = Purpose::evaluation;
  const bool evaluates =
      options.purpose == "evaluation" || (spec.eval.every_steps > 0 && !spec.data.val.empty());
  if (evaluates) compiling.eval_micro_batches = eval_micro_batches(spec, spec.eval.sequences);
  if (options.print == "graph" || options.print == "code")
    compiling.dump = [graphs = options.print == "graph"](std::string_view pass, const std::string& text) {
      const bool is_graph = text.starts_with("graph ");
      if (is_graph != graphs || pass == "program") return;
      std::printf("# after %.*s\n%s\n", static_cast<int>(pass.size()), pass.data(), text.c_str());
    };
  return compiling;
}

int run(const Options& options) {
  const RunSpec spec = load_config(options.config, options.overrides, options.ranks);
  const int64_t ranks = options.purpose == "training" ? all_ranks(spec) : 1;
  if (options.rank >= ranks)
    fail_user("--rank {}: the run has {} ranks, 0 to {}", options.rank, ranks, ranks - 1);
  const Compiled compiled = compile(spec, compile_options(options, spec));
  const Program& program = compiled.program;
  std::vector<int64_t> arenas;
  if (options.purpose == "training") arenas = prove_pipeline(spec, compile_options(options, spec), program);
  if (options.print == "program") std::fputs(to_text(program).c_str(), stdout);
  if (options.print == "comm") std::fputs(comm_text(program).c_str(), stdout);
  if (options.print == "timeline") {
    if (options.purpose == "training") std::fputs(pipeline_text(make_pipeline(spec)).c_str(), stdout);
    std::fputs(timelines_text(program).c_str(), stdout);
  }
  if (options.print == "memory") {
    std::fputs(memory_table(program).c_str(), stdout);
    for (size_t rank = 0; arenas.size() > 1 && rank < arenas.size(); ++rank)
      fmt::print("pipeline rank {:<3} {:>12.1f} MB\n", rank, static_cast<double>(arenas[rank]) / 1e6);
  }
  return 0;
}

}  // namespace

void add_compile(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compile", "Shows and checks what a config would run; touches no device");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("CONFIG", options->config, "TOML file")->required();
  command->add_option("--rank", options->rank, "whose program")->capture_default_str()->check(at_least(0));
  command
      ->add_option("--print", options->print,
                   "graph | code (after every pass), timeline, comm, memory, program")
      ->capture_default_str()
      ->check(CLI::IsMember({"graph", "code", "timeline", "comm", "memory", "program"}));
  command->add_option("--for", options->purpose, "training, evaluation or generation")
      ->capture_default_str()
      ->check(CLI::IsMember({"training", "evaluation", "generation"}));
  add_overrides(*command, options->overrides);
  add_ranks(*command, options->ranks);
  command->footer("Example: trireme compile configs/gpt2-124m.toml --print memory");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
