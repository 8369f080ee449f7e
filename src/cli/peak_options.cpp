// Dense peaks only: what a datasheet gives "with sparsity" is twice what a product can reach.
#include "cli/peak_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "base/error.h"
#include "hardware/catalog.h"
#include "plan/calculators/human_number.h"

namespace trireme::cli {
namespace {

PeakType read_dtype(const std::string& dtype) {
  std::vector<std::string> names;
  for (int i = 0; i < kPeakTypes; ++i) {
    const auto type = static_cast<PeakType>(i);
    if (name_of(type) == dtype) return type;
    names.emplace_back(name_of(type));
  }
  fail_user("--dtype {}: there are {}", dtype, fmt::join(names, ", "));
}

}  // namespace

void add_peak_options(CLI::App& command, PeakOptions& options) {
  command.add_option("--device", options.device, "what Trireme knows, as h100-sxm, or a hardware file");
  command.add_option("--peak", options.peak, "instead: dense FLOP/s of one device, as 989T");
  command.add_option("--dtype", options.dtype, "that products run in: fp32, tf32, bf16, fp16, fp8, fp4")
      ->capture_default_str();
}

PeakRate read_peak(const PeakOptions& options) {
  const PeakType type = read_dtype(options.dtype);
  if (options.device && options.peak) fail_user("--device and --peak both say the peak; give one");
  if (options.peak)
    return {read_flops_per_s("--peak", *options.peak), fmt::format("{} dense peak given", options.dtype)};
  if (!options.device) fail_user("say what the peak is: --device h100-sxm, or --peak 989T");
  const Hardware hardware = load_hardware(*options.device);
  if (hardware.peak_of(type) > 0)
    return {hardware.peak_of(type), fmt::format("{} dense peak of {}", options.dtype, hardware.device)};
  std::vector<std::string_view> has;
  for (int i = 0; i < kPeakTypes; ++i)
    if (hardware.peak[static_cast<size_t>(i)] > 0) has.push_back(name_of(static_cast<PeakType>(i)));
  fail_user("--dtype {}: {} has no units for it; it has {}", options.dtype, hardware.device,
            fmt::join(has, ", "));
}

}  // namespace trireme::cli
