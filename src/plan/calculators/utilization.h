// MFU and HFU: what of the devices' dense peak a run's speed amounts to.
#pragma once
#include <cstdint>
#include <string>

#include "config/parallel.h"
#include "plan/calculators/token_flops.h"
#include "plan/calculators/worked.h"

namespace trireme {

// What backward computes again of the products: none; attention's scores and values, as Korthikanti et al.
// 2022 do selectively; whole layers.
enum class Recomputed : uint8_t { nothing, attention, layers };
// Of a run of Trireme: its "selective" computes only what is cheap again, which is no product.
Recomputed recomputed_by(RecomputeKind kind);

struct PeakRate {
  double flops_per_s = 0;  // of one device, dense
  std::string what;        // "bf16 dense peak of h100-sxm", for people
};

struct Speed {
  double tokens_per_s = 0;  // of all devices together
  int64_t devices = 1;
  PeakRate peak;
  TokenFlops flops;
  Recomputed recomputed = Recomputed::nothing;
};

// Chowdhery et al. 2022, appendix B. Keys "mfu", "hfu", "tokens_per_s_device", "flops_per_s_device".
// UserError when MFU or HFU comes out at more than 100 %, and where attention is computed again and its FLOPs
// are not known.
Answer utilization(const Speed& speed);

}  // namespace trireme
