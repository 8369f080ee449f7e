// One equation, solved for what is missing. Work is in FLOPs, power in FLOP/s of the peak.
#include "plan/calculators/run_hours.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"

namespace trireme {
namespace {

void check_missing(const HoursInput& input) {
  std::vector<std::string> missing;
  const auto look = [&](bool given, const char* name) {
    if (!given) missing.emplace_back(name);
  };
  look(input.tokens.has_value(), "--tokens");
  look(input.devices.has_value(), "--gpus");
  look(input.mfu.has_value(), "--mfu");
  look(input.hours.has_value(), "--hours");
  if (missing.empty())
    fail_user("--tokens, --gpus, --mfu and --hours are all given; leave out the one that is asked for");
  if (missing.size() > 1)
    fail_user(
        "{} are not given; give all of --tokens, --gpus, --mfu and --hours but the one that is asked for",
        fmt::join(missing, " and "));
}

// The equation's terms in text: F in symbols, in brackets where it is a sum, and the numbers that are given.
struct Terms {
  std::string f, work, peak, devices, mfu, hours;
};

Terms terms_of(const HoursInput& input) {
  const auto bracketed = [&](const std::string& flops) {
    return input.flops.attention > 0 ? fmt::format("({})", flops) : flops;
  };
  return {.f = bracketed(input.flops.formula),
          .work = input.tokens ? fmt::format("{} * {}", bracketed(input.flops.numbers), plain(*input.tokens))
                               : "",
          .peak = plain(input.peak.flops_per_s),
          .devices = input.devices ? fmt::format("{}", *input.devices) : "",
          .mfu = input.mfu ? plain(*input.mfu) : "",
          .hours = input.hours ? plain(*input.hours) : ""};
}

Worked solve_hours(const HoursInput& input, const Terms& terms) {
  const double power = static_cast<double>(*input.devices) * input.peak.flops_per_s * *input.mfu;
  Worked hours{
      .key = "hours",
      .label = "time",
      .value = input.flops.all() * *input.tokens / power / kHour_s,
      .unit = "h",
      .formula = fmt::format("{} * D / (GPUs * peak * MFU * 3600)", terms.f),
      .numbers = fmt::format("{} / ({} * {} * {} * 3600)", terms.work, terms.devices, terms.peak, terms.mfu)};
  hours.shown =
      fmt::format("{} h ({})", hours.value < 1e6 ? fmt::format("{:.4g}", hours.value) : plain(hours.value),
                  as_duration(hours.value * kHour_s));
  return hours;
}

Worked solve_devices(const HoursInput& input, const Terms& terms) {
  const double exact =
      input.flops.all() * *input.tokens / (*input.hours * kHour_s * input.peak.flops_per_s * *input.mfu);
  if (exact > 1e12)
    fail_user("--hours {}: it would take {} GPUs; give more hours", terms.hours, plain(exact));
  Worked devices{
      .key = "gpus",
      .label = "GPUs",
      // The share taken off keeps a whole result whole.
      .value = std::max(1.0, std::ceil(exact * (1 - 1e-12))),
      .unit = "GPUs",
      .formula = fmt::format("{} * D / (hours * 3600 * peak * MFU), rounded up", terms.f),
      .numbers = fmt::format("{} / ({} * 3600 * {} * {})", terms.work, terms.hours, terms.peak, terms.mfu)};
  devices.shown = fmt::format("{:.4g}, so {:.0f} GPUs", exact, devices.value);
  return devices;
}

Worked solve_mfu(const HoursInput& input, const Terms& terms) {
  const double available =
      static_cast<double>(*input.devices) * input.peak.flops_per_s * *input.hours * kHour_s;
  const double mfu = input.flops.all() * *input.tokens / available;
  if (mfu > 1)
    fail_user(
        "--hours {}: it would take an MFU of {}, and more than 100 % is impossible; {} GPUs at their {} need "
        "at least {:.4g} h",
        terms.hours, as_percent(mfu), *input.devices, input.peak.what, mfu * *input.hours);
  return worked_fraction({.key = "mfu",
                          .label = "MFU that this implies",
                          .value = mfu,
                          .formula = fmt::format("{} * D / (GPUs * peak * hours * 3600)", terms.f),
                          .numbers = fmt::format("{} / ({} * {} * {} * 3600)", terms.work, terms.devices,
                                                 terms.peak, terms.hours)});
}

Worked solve_tokens(const HoursInput& input, const Terms& terms) {
  const double power = static_cast<double>(*input.devices) * input.peak.flops_per_s * *input.mfu;
  return worked_number(
      {.key = "tokens",
       .label = "tokens",
       .value = power * *input.hours * kHour_s / input.flops.all(),
       .unit = "tokens",
       .formula = fmt::format("GPUs * peak * MFU * hours * 3600 / ({})", input.flops.formula),
       .numbers = fmt::format("{} * {} * {} * {} * 3600 / ({})", terms.devices, terms.peak, terms.mfu,
                              terms.hours, input.flops.numbers)});
}

Worked gpu_hours(double devices, double hours) {
  return worked_number({.key = "gpu_hours",
                        .label = "GPU-hours",
                        .value = devices * hours,
                        .unit = "GPU h",
                        .formula = "GPUs * hours",
                        .numbers = fmt::format("{} * {}", plain(devices), plain(hours))});
}

}  // namespace

Answer run_hours(const HoursInput& input) {
  check_missing(input);
  const Terms terms = terms_of(input);
  AnswerSection section{input.flops.attention > 0
                            ? "Time of a training run (FLOPs: Chowdhery et al. 2022, appendix B)"
                            : "Time of a training run (6 FLOPs per parameter and token: Kaplan et al. 2020)",
                        {}};
  if (!input.hours) section.results.push_back(solve_hours(input, terms));
  if (!input.devices) section.results.push_back(solve_devices(input, terms));
  if (!input.mfu) section.results.push_back(solve_mfu(input, terms));
  if (!input.tokens) section.results.push_back(solve_tokens(input, terms));
  const double solved = section.results.front().value;
  section.results.push_back(gpu_hours(input.devices ? static_cast<double>(*input.devices) : solved,
                                      input.hours ? *input.hours : solved));
  return {{section},
          {fmt::format("The peak is the {}, {} FLOP/s. Failures, restarts and evaluation are not in it.",
                       input.peak.what, plain(input.peak.flops_per_s))}};
}

}  // namespace trireme
