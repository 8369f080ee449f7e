// Seconds from measured curves: multilinear in the logarithms of sizes and rates over the grid of a curve's
// points, at a constant rate beyond its ends (of what is sent, at a constant time below the smallest). A
// curve whose points are no full grid gives the rate of the point that is nearest by ratio.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hardware/hardware.h"
#include "ops/op.h"

namespace trireme {

// The curve must have points, of as many dims as `size`.
double seconds_on(const OpCurve& curve, const std::vector<int64_t>& size);
double seconds_on(const CommCurve& curve, int64_t bytes);

// Of one call on a rank of `threads` threads. Between two measured numbers of threads by a power law; nullopt
// where the hardware has no such curve, or has it for more threads or for fewer only.
std::optional<double> measured_op_s(const Hardware& hardware, const OpSig& sig, int64_t threads);

// Of a collective in which each of `ranks` ranks of a node sends `bytes`; likewise.
std::optional<double> measured_comm_s(const Hardware& hardware, std::string_view op, int64_t ranks,
                                      int64_t bytes);

}  // namespace trireme
