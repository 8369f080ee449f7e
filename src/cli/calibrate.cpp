// `trireme calibrate`: measures this machine and writes it as a hardware file.
#include "calibrate/calibrate.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "calibrate/disturbed.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "exchange/staged_path.h"
#include "hardware/catalog.h"
#include "hardware/read.h"
#include "train/machine.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string out, name = "this-machine", earlier;
  bool quick = false;
  std::optional<int64_t> threads;
};

int run(const Options& options) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const int cores = thread_count({});
  CalibrateOptions calibrating;
  calibrating.name = options.name;
  calibrating.date = fmt::format("{:%Y-%m-%d}", fmt::localtime(now));
  calibrating.threads = static_cast<int>(options.threads.value_or(cores));
  if (calibrating.threads > cores)
    fail_user("--threads {}: this process may use {} cores; use 1 to {}", calibrating.threads, cores, cores);
  if (!options.earlier.empty()) calibrating.earlier = load_hardware(options.earlier);
  calibrating.extent = options.quick ? Extent::quick : Extent::full;
  if (options.quick) calibrating.passes = 1;
  if (isatty(STDERR_FILENO) != 0)
    calibrating.progress = [](const std::string& what, double part) {
      fmt::print(stderr, "\r{:<30} {:3.0f} %", what, 100 * part);
    };
  StagedPath staged(options.out, Staged::file);  // refused now rather than in some minutes
  std::ofstream file(staged.path());
  if (!file) fail_env("{}", with_errno("cannot write " + options.out));
  const double start = seconds_now();
  const Hardware hardware = calibrate(calibrating);
  file << to_toml(hardware);
  file.close();
  if (!file) fail_env("{}", with_errno("cannot write " + options.out));
  staged.publish();
  fmt::print(
      "{}{}: {} cores, fp32 {:.0f} and bf16 {:.0f} GFLOP/s a core, memory {:.1f} GB/s, {} curves, in {:.0f} "
      "s\n",
      calibrating.progress ? "\n" : "", options.out, hardware.devices_per_node,
      1e-9 * hardware.peak_of(PeakType::fp32), 1e-9 * hardware.peak_of(PeakType::bf16),
      1e-9 * hardware.memory_bytes_per_s, hardware.ops.size() + hardware.comms.size(), seconds_now() - start);
  if (const ThreadedPoints points = threaded_points(hardware);
      static_cast<double>(points.slower) > kDisturbedPart * static_cast<double>(points.all))
    fmt::print(stderr,
               "{} of {} sizes took more than twice as long on several threads as on one: something else ran "
               "meanwhile. On a quiet machine: trireme calibrate --earlier {} --out ANOTHER\n",
               points.slower, points.all, options.out);
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measures this machine's kernels, copies and collectives, and writes a hardware file");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("--out", options->out, "file to write, TOML; there must be none yet")->required();
  command->add_option("--name", options->name, "of the machine in the file")->capture_default_str();
  command->add_flag("--quick", options->quick, "fewer sizes, less often: some seconds instead of minutes");
  command->add_option("--threads", options->threads, "cores to measure; default: all")->check(at_least(1));
  command->add_option("--earlier", options->earlier,
                      "hardware file of this machine from before: of each size the faster of both counts");
  command->footer("Example: trireme calibrate --out this-machine.toml");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
