// Curves of ops, measured on every rank of a run at once: memory and turbo are shared as they are in a step.
#pragma once
#include <functional>
#include <vector>

#include "calibrate/op_list.h"
#include "hardware/hardware.h"

namespace trireme {

struct OpCurvesOptions {
  int ranks = 1;
  int threads = 1;          // of each
  double per_op_s = 0.004;  // what is spent on a size, roughly
  int64_t most_bytes = 0;   // operands of one op on one rank; larger ops are left out
  std::function<void(size_t done, size_t of)> progress;
};

// A curve per curve name and dtype that `sigs` has, in order of these; each point is the lower quartile of
// the ranks, of ops of the same size the fastest.
std::vector<OpCurve> measure_ops(const std::vector<OpSig>& sigs, const OpCurvesOptions& options);

// Measured again: of each size the faster of both, since what disturbs a machine makes it slower only.
void keep_fastest(std::vector<OpCurve>& curves, const std::vector<OpCurve>& again);
void keep_fastest(std::vector<CommCurve>& curves, const std::vector<CommCurve>& again);

}  // namespace trireme
