// Curves first; the single numbers, for what no curve covers, follow from them.
#include "calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/clock.h"
#include "base/error.h"
#include "calibrate/comm_curves.h"
#include "calibrate/op_curves.h"
#include "calibrate/quantile.h"
#include "device/cpu/arena.h"
#include "device/cpu/parallel_copy.h"
#include "device/cpu/peak.h"
#include "hardware/curves.h"
#include "hardware/numbers.h"
#include "sim/op_size.h"
#include "train/machine.h"

namespace trireme {
namespace {

constexpr int64_t kCopyBytes = int64_t{128} << 20;

// Bytes copied per second by all threads together: of several copies the median.
double copy_rate(int threads) {
  CpuArena arena(2 * kCopyBytes, threads);
  std::vector<double> seconds;
  for (int turn = 0; turn < 5; ++turn) {
    const double start = seconds_now();
    parallel_copy(threads, arena.data(), arena.data() + kCopyBytes, kCopyBytes);
    seconds.push_back(seconds_now() - start);
  }
  return kCopyBytes / quantile(std::move(seconds), 0.5);
}

// FLOP/s, or bytes/s, of the best point of a curve.
double best_rate(const Hardware& hardware, std::string_view op, std::string_view dtype, int64_t threads,
                 double per_work) {
  double best = 0;
  for (const OpCurve& curve : hardware.ops)
    if (curve.op == op && curve.dtype == dtype && curve.threads == threads)
      for (const auto& [size, seconds] : curve.points)
        best = std::max(best, per_work * work_of_size(op, size) / seconds);
  return best;
}

// Four digits: more are noise.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

double fraction(double part, double whole) {
  return rounded(std::clamp(whole > 0 ? part / whole : 1.0, 0.01, 1.0));
}

void round_numbers(Hardware& hardware) {
  for (double* number : {&hardware.peak[0], &hardware.peak[2], &hardware.memory_bytes_per_s,
                         &hardware.host_bytes_per_s, &hardware.inside.latency_s})
    *number = rounded(*number);
  hardware.inside.bytes_per_s = hardware.host_bytes_per_s;
  for (OpCurve& curve : hardware.ops)
    for (auto& [size, seconds] : curve.points) seconds = rounded(seconds);
  for (CommCurve& curve : hardware.comms)
    for (auto& [bytes, seconds] : curve.points) seconds = rounded(seconds);
}

void add_ops(Hardware& hardware, const CalibrateOptions& options, int ranks) {
  const int threads = options.threads / ranks;
  std::vector<OpSig> sigs;
  for (const DType compute : {DType::bf16, DType::f32}) {
    const OpListOptions list{compute, options.extent, threads};
    for (const auto& ops : {grid_ops(list), program_ops(list)})
      sigs.insert(sigs.end(), ops.begin(), ops.end());
  }
  OpCurvesOptions measuring{.ranks = ranks,
                            .threads = threads,
                            .per_op_s = options.per_op_s,
                            .most_bytes = machine_bytes() / (2 * ranks)};
  measuring.progress = [&](size_t done, size_t of) {
    if (options.progress)
      options.progress(fmt::format("ops, {} x {} cores", ranks, threads),
                       static_cast<double>(done) / static_cast<double>(of));
  };
  keep_fastest(hardware.ops, measure_ops(sigs, measuring));
}

// What prices an op without a curve: the best that ops of its sort reach.
void derive_kernels(Hardware& hardware, int64_t threads) {
  const double peak = hardware.peak_of(PeakType::bf16) * static_cast<double>(threads);
  const auto of_peak = [&](std::string_view op, double flops) {
    return fraction(best_rate(hardware, op, "bf16", threads, flops), peak);
  };
  KernelModel& kernels = hardware.kernels;
  kernels.launch_s = 2e-6;
  kernels.product = of_peak("linear", 2);
  kernels.attention = of_peak("attention", 2);  // of 4 FLOPs a pair and dim, half are under the mask
  kernels.attention_grad = of_peak("attention_grad", 5);
  kernels.memory = fraction(best_rate(hardware, "adamw", "f32", threads, 1), hardware.memory_bytes_per_s);
  kernels.communication = 1;
}

void derive_links(Hardware& hardware) {
  const auto curve = std::find_if(hardware.comms.begin(), hardware.comms.end(),
                                  [](const CommCurve& c) { return c.op == "all_gather"; });
  hardware.inside = {hardware.host_bytes_per_s, 1, 1e-6};
  if (curve == hardware.comms.end()) return;
  const auto& [bytes, seconds] = curve->points.back();
  hardware.inside.efficiency = fraction(static_cast<double>(bytes) / seconds, hardware.host_bytes_per_s);
  hardware.inside.latency_s = curve->points.front().second;
}

// Nothing measures these.
constexpr std::string_view kAssumed[] = {"kernels.launch", "kernels.communication", "store.bandwidth"};

// Every number of the file has one of two sources; in the order of the file.
void name_sources(Hardware& hardware, const CalibrateOptions& options) {
  hardware.sources = {
      {"assumed", "assumed by trireme calibrate, which does not measure it", options.date},
      {"calibrate", fmt::format("measured by trireme calibrate on {} on {}", options.date, hardware.device),
       options.date}};
  visit_numbers(hardware, [&](const NumberField& field, const auto&) {
    const std::string key(field.key);
    const bool assumed = std::ranges::count(kAssumed, field.key) > 0;
    const bool measured = field.required || key == "peak.fp32" || key == "peak.bf16";
    if (assumed || measured) hardware.source_of.emplace_back(key, assumed ? "assumed" : "calibrate");
  });
  for (const OpCurve& curve : hardware.ops) hardware.source_of.emplace_back(curve_key(curve), "calibrate");
  for (const CommCurve& curve : hardware.comms)
    hardware.source_of.emplace_back(curve_key(curve), "calibrate");
}

// What disturbs a machine makes it slower only.
void keep_fastest(Hardware& hardware, const Hardware& earlier) {
  for (size_t i = 0; i < hardware.peak.size(); ++i)
    hardware.peak[i] = std::max(hardware.peak[i], earlier.peak[i]);
  hardware.memory_bytes_per_s = std::max(hardware.memory_bytes_per_s, earlier.memory_bytes_per_s);
  hardware.host_bytes_per_s = std::max(hardware.host_bytes_per_s, earlier.host_bytes_per_s);
  keep_fastest(hardware.ops, earlier.ops);
  keep_fastest(hardware.comms, earlier.comms);
}

void check_same_machine(const Hardware& earlier, const CalibrateOptions& options) {
  if (earlier.device != cpu_name() || earlier.devices_per_node != options.threads)
    fail_user("{} is of {} cores of {}, this is {} of {}; calibrate without it", earlier.name,
              earlier.devices_per_node, earlier.device, options.threads, cpu_name());
}

}  // namespace

Hardware calibrate(const CalibrateOptions& options) {
  if (options.earlier) check_same_machine(*options.earlier, options);
  const int cores = options.threads;
  Hardware hardware;
  hardware.name = options.name;
  hardware.device = cpu_name();
  hardware.kind = DeviceClass::cpu;
  hardware.collectives = CollectiveWay::direct;
  hardware.devices_per_node = cores;
  hardware.overhead_bytes = resident_bytes();
  hardware.memory_bytes = machine_bytes();
  for (const auto& [type, dtype] : {std::pair(PeakType::fp32, DType::f32), {PeakType::bf16, DType::bf16}})
    hardware.peak[static_cast<size_t>(type)] = measure_product_rate(dtype, 1);
  hardware.memory_bytes_per_s = 2 * copy_rate(cores);  // read and written
  hardware.host_bytes_per_s = copy_rate(1);
  hardware.store_bytes_per_s = 200e6;
  for (int pass = 0; pass < options.passes; ++pass) {
    keep_fastest(hardware.comms, measure_comms({cores, options.extent, options.per_op_s}));
    add_ops(hardware, options, 1);
    if (cores > 1) add_ops(hardware, options, cores);
  }
  if (options.earlier) keep_fastest(hardware, *options.earlier);
  derive_kernels(hardware, cores);
  derive_links(hardware);
  const auto key = [](const auto& curve) { return curve_key(curve); };
  std::ranges::sort(hardware.ops, {}, key);
  std::ranges::sort(hardware.comms, {}, key);
  round_numbers(hardware);
  name_sources(hardware, options);
  return hardware;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "cpu";
}

}  // namespace trireme
