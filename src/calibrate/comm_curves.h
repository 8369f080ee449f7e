// Curves of collectives and of what one rank sends another, between ranks that are threads of this process.
#pragma once
#include <vector>

#include "calibrate/op_list.h"
#include "hardware/hardware.h"

namespace trireme {

struct CommCurvesOptions {
  int threads = 1;  // cores: as many ranks at most
  Extent extent = Extent::full;
  double per_call_s = 0.01;
};

// Over 2, 4, 8, ... ranks and all: none on one core.
std::vector<CommCurve> measure_comms(const CommCurvesOptions& options);

}  // namespace trireme
