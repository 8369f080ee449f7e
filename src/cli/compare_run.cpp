// `trireme compare-run`: what a run took against what the simulator says.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/cluster_choice.h"
#include "cli/command.h"
#include "config/run_spec.h"
#include "hardware/assumptions.h"
#include "io/checkpoint/names.h"
#include "obs/append_file.h"
#include "plan/compare/compare.h"
#include "plan/quantities.h"
#include "train/run_folder.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string run;
  ClusterChoice cluster;
  AnswerForm form = AnswerForm::text;
};

void check_folder(const RunFolder& run) {
  for (const std::string& file : {run.config(), run.metrics()})
    if (!fs::is_regular_file(file))
      fail_user(
          "{} is no folder of a run: there is no {} in it; give one that trireme train made, as runs/NAME",
          run.path, fs::path(file).filename().string());
}

// Of "step-00000005.json" and "step-00000005.rank-8.json", which begin as a checkpoint's name.
std::optional<int64_t> step_of_file(const std::string& name) {
  return name.ends_with(".json") ? step_of_name(name.substr(0, name.find('.'))) : std::nullopt;
}

std::map<int64_t, StepTotals> traced_steps(const RunFolder& run) {
  std::map<int64_t, std::vector<RankEvents>> ranks;
  if (fs::is_directory(run.traces()))
    for (const auto& entry : fs::directory_iterator(run.traces())) {
      const std::optional<int64_t> step = step_of_file(entry.path().filename().string());
      if (!step) continue;
      std::vector<RankEvents> read = read_trace(read_file(entry.path().string()));
      if (read.empty())
        fmt::print(stderr, "{} is passed over: it is no whole trace\n", entry.path().string());
      for (RankEvents& rank : read) ranks[*step].push_back(std::move(rank));
    }
  std::map<int64_t, StepTotals> steps;
  for (const auto& [step, of_step] : ranks) steps[step] = totals_of(of_step);
  return steps;
}

void check_machine(const RunSpec& spec, const Hardware& hardware) {
  if (spec.run.device == DeviceKind::null)
    fail_user("run.device = null computes nothing: there is nothing to compare; give a run on a real device");
  if (spec.run.device == DeviceKind::cpu && hardware.kind != DeviceClass::cpu)
    fail_user(
        "the run was on a cpu and {} has gpus: give the file that trireme calibrate wrote on that machine",
        hardware.name);
}

int run(const Options& options) {
  const RunFolder folder{options.run};
  check_folder(folder);
  const RunSpec spec = load_config(folder.config());
  const Hardware hardware = hardware_of(options.cluster);
  check_machine(spec, hardware);
  const RunRecord record = read_run(read_file(folder.metrics()), read_file(folder.log()), folder.metrics());
  SimulationInput input;
  input.cluster = choose_cluster(options.cluster, hardware, all_ranks(spec));
  input.programs = pipeline_programs(spec, compile_options(spec, input.cluster));
  const StepSimulation step = simulate_step(input);
  const Comparison comparison = compare(spec, {input, step}, record, traced_steps(folder));
  if (options.form == AnswerForm::text)
    fmt::print("{}: {} of {} steps, against {} on {}\n{}\n", folder.path, record.steps.back().step,
               spec.run.steps, hardware.name, counted(input.cluster.nodes, "node"),
               assumptions_text(hardware));
  std::fputs(
      (options.form == AnswerForm::json ? to_json(comparison, input.cluster) : to_text(comparison)).c_str(),
      stdout);
  if (record.unreadable_lines > 0)
    fmt::print(stderr, "lines of {} passed over, torn or foreign: {}\n", folder.metrics(),
               record.unreadable_lines);
  return 0;
}

}  // namespace

void add_compare_run(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("compare-run", "Holds a run against its prediction, part by part: what was off?");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("RUN", options->run, "folder of a run: runs/NAME")->required();
  add_cluster(*command, options->cluster);
  add_json(*command, options->form);
  command->footer("Example: trireme compare-run runs/tiny --cluster here.toml");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
