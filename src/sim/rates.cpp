// MFU as training reports it: PaLM's FLOPs per token, times tokens per second, over the peak.
#include "sim/rates.h"

#include "model/flops.h"

namespace trireme {

double peak_flops_of(const RunSpec& spec, const Cluster& cluster) {
  const Hardware& hardware = *cluster.hardware;
  const PeakType type = spec.precision.compute == Compute::bf16 ? PeakType::bf16 : PeakType::fp32;
  const double devices =
      static_cast<double>(all_ranks(spec) * cluster.share.threads) / cluster.share.slowdown;
  return hardware.peak_of(type) * devices;
}

StepRates rates_of(const RunSpec& spec, const Cluster& cluster, double step_s) {
  const Model model = whole_model(spec);
  StepRates rates{.tokens_per_s = static_cast<double>(tokens_per_step(spec)) / step_s};
  if (const double peak = peak_flops_of(spec, cluster); peak > 0)
    rates.mfu = flops_per_token(spec.model, model, spec.data.seq_len) * rates.tokens_per_s / peak;
  return rates;
}

}  // namespace trireme
