// A kernel takes what its arithmetic takes or what its memory takes, whichever is longer, and its launch: a
// roofline (Williams et al. 2009) whose roofs are what kernels of its kind reach.
#include <algorithm>
#include <array>
#include <string_view>

#include "ops/head/head.h"
#include "sim/curves.h"
#include "sim/kernels.h"
#include "sim/op_size.h"
#include "sim/price.h"

namespace trireme {
namespace {

PeakType peak_type(const OpSig& sig) {
  return !sig.inputs.empty() && sig.inputs[0].dtype == DType::bf16 ? PeakType::bf16 : PeakType::fp32;
}

double flops_of(const ProductShape& p) {
  return 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.inner) *
         static_cast<double>(p.times);
}

// Seconds of arithmetic at `peak` FLOP/s.
double arithmetic_s(const KernelModel& kernels, const OpSig& sig, const Cost& cost, double peak) {
  const std::vector<ProductShape> products = products_of(sig);
  double seconds = 0;
  for (const ProductShape& product : products)
    seconds += flops_of(product) / (peak * kernels.product * tile_share(kernels, product));
  if (!products.empty()) return seconds;
  if (sig.kind.find("attention") == std::string::npos) return 0;
  const bool gradient = sig.kind.ends_with("_grad");
  return static_cast<double>(cost.flops) / (peak * (gradient ? kernels.attention_grad : kernels.attention));
}

// Kernels between products that frameworks write as several.
bool pointwise(std::string_view kind) {
  constexpr std::array<std::string_view, 9> kBegin = {
      "activation", "add", "layernorm", "rmsnorm", "swiglu", "rope", "qk_norm", "positions", "mla"};
  return std::ranges::any_of(kBegin, [&](std::string_view begin) { return kind.starts_with(begin); });
}

// Of a loss on a gpu, whose logits no cache holds: they are written and read in fp32, their gradient is
// written and read by two products.
double logits_bytes(const OpSig& sig) {
  if (!sig.kind.starts_with("head_loss")) return 0;
  const auto& x = sig.inputs[0];
  const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
  const double logits = static_cast<double>(rows_of(x)) * static_cast<double>(a.vocab);
  const bool gradient = sig.kind.ends_with("_grad");
  return logits * static_cast<double>(2 * size_of(DType::f32) + (gradient ? 3 * size_of(x.dtype) : 0));
}

}  // namespace

double kernel_s(const Cluster& cluster, const OpSig& sig) {
  const Hardware& hardware = *cluster.hardware;
  if (const auto measured = measured_op_s(hardware, sig, cluster.share.threads))
    return *measured * cluster.share.slowdown;
  const Cost cost = op_def(sig.kind).cost(sig);
  const double peak = hardware.peak_of(peak_type(sig)) * static_cast<double>(cluster.share.threads);
  const double arithmetic = peak > 0 ? arithmetic_s(hardware.kernels, sig, cost, peak) : 0;
  const double bytes_per_s = cluster.share.memory_bytes_per_s * hardware.kernels.memory;
  const double unfused = hardware.kernels.unfused;
  const double memory = static_cast<double>(cost.bytes_read + cost.bytes_written) / bytes_per_s *
                        (pointwise(sig.kind) ? unfused : 1);
  const double logits = hardware.kind == DeviceClass::gpu ? logits_bytes(sig) / bytes_per_s * unfused : 0;
  return (std::max(arithmetic, memory) + logits + hardware.kernels.launch_s) * cluster.share.slowdown;
}

}  // namespace trireme
