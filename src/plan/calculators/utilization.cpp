// MFU divides the FLOPs that the model needs, HFU those that were done, by what the peak would do meanwhile.
#include "plan/calculators/utilization.h"

#include <fmt/format.h>

#include "base/error.h"

namespace trireme {
namespace {

void refuse_impossible(std::string_view name, double fraction, const Speed& speed) {
  if (fraction <= 1) return;
  fail_user(
      "{} = {}: more than 100 % is impossible; check that {} tokens/s is of all {} devices together, that "
      "{} ({} FLOP/s) is the peak of the dtype that products run in, and the FLOPs per token ({})",
      name, as_percent(fraction), plain(speed.tokens_per_s), speed.devices, speed.peak.what,
      plain(speed.peak.flops_per_s), plain(speed.flops.all()));
}

// FLOPs per token that the hardware does: what is computed again once more.
struct HardwareFormula {
  std::string symbols;
  double flops;
};

HardwareFormula hardware_formula(const TokenFlops& flops, Recomputed recomputed) {
  if (recomputed == Recomputed::layers)  // forward is a third of forward and backward
    return {"F * 4/3 (forward once more)", flops.all() * 4 / 3};
  if (recomputed == Recomputed::nothing) return {"F", flops.all()};
  if (flops.attention == 0)
    fail_user("--recompute attention: it needs attention's FLOPs; give --layers, --width and --seq");
  return {"F + 1/3 of attention's part (its forward once more)", flops.all() + flops.attention / 3};
}

}  // namespace

Recomputed recomputed_by(RecomputeKind kind) {
  return kind == RecomputeKind::full ? Recomputed::layers : Recomputed::nothing;
}

Answer utilization(const Speed& speed) {
  const double peak = static_cast<double>(speed.devices) * speed.peak.flops_per_s;
  const double mfu = speed.tokens_per_s * speed.flops.all() / peak;
  refuse_impossible("MFU", mfu, speed);
  const HardwareFormula hardware = hardware_formula(speed.flops, speed.recomputed);
  const double hfu = speed.tokens_per_s * hardware.flops / peak;
  refuse_impossible("HFU", hfu, speed);
  const double devices = static_cast<double>(speed.devices);

  const auto share = [&](double flops) {
    return fmt::format("{} * {} / ({} * {})", plain(speed.tokens_per_s), plain(flops), speed.devices,
                       plain(speed.peak.flops_per_s));
  };
  AnswerSection section{"Utilization (Chowdhery et al. 2022, appendix B)", {}};
  section.results.push_back(worked_number({.key = "flops_per_token",
                                           .label = "F, FLOPs per token",
                                           .value = speed.flops.all(),
                                           .unit = "FLOP",
                                           .formula = speed.flops.formula,
                                           .numbers = speed.flops.numbers}));
  section.results.push_back(worked_fraction({.key = "mfu",
                                             .label = "MFU, of the model's FLOPs",
                                             .value = mfu,
                                             .formula = "tokens/s * F / (GPUs * peak)",
                                             .numbers = share(speed.flops.all())}));
  section.results.push_back(worked_number({.key = "hardware_flops_per_token",
                                           .label = "F_hw, FLOPs done per token",
                                           .value = hardware.flops,
                                           .unit = "FLOP",
                                           .formula = hardware.symbols}));
  section.results.push_back(worked_fraction({.key = "hfu",
                                             .label = "HFU, of the FLOPs done",
                                             .value = hfu,
                                             .formula = "tokens/s * F_hw / (GPUs * peak)",
                                             .numbers = share(hardware.flops)}));
  section.results.push_back(
      worked_number({.key = "tokens_per_s_device",
                     .label = "tokens/s a GPU",
                     .value = speed.tokens_per_s / devices,
                     .unit = "tokens/s",
                     .formula = "tokens/s / GPUs",
                     .numbers = fmt::format("{} / {}", plain(speed.tokens_per_s), speed.devices)}));
  section.results.push_back(
      worked_number({.key = "flops_per_s_device",
                     .label = "model FLOP/s a GPU",
                     .value = mfu * speed.peak.flops_per_s,
                     .unit = "FLOP/s",
                     .formula = "MFU * peak",
                     .numbers = fmt::format("{:.4g} * {}", mfu, plain(speed.peak.flops_per_s))}));
  return {{section},
          {fmt::format("The peak is the {}, {} FLOP/s.", speed.peak.what, plain(speed.peak.flops_per_s))}};
}

}  // namespace trireme
