// Measured curves in hardware files: a table per curve, a line per point.
//
//   [op.linear.bf16.threads-1]          [collective.all_reduce.ranks-2]
//   from = "measured"                   from = "measured"
//   points = [                          points = [
//     "512x256x256: 394 us",              "4096 B: 21.5 us",
//   ]                                   ]
#pragma once
#include <string>
#include <vector>

#include "config/toml_source.h"
#include "hardware/hardware.h"

namespace trireme {

bool is_curve_key(const std::string& path);  // of the settings below `op` and `collective`

// All curves among the settings, into the hardware and its source_of; sources are checked by the caller.
// UserError.
void read_curves(const std::vector<Setting>& settings, Hardware& hardware);

std::string curve_key(const OpCurve& curve);  // "op.linear.bf16.threads-1"
std::string curve_key(const CommCurve& curve);
std::string curves_text(const Hardware& hardware);  // CHECKs that each curve has a source

}  // namespace trireme
