// What is done to a simulated run, as people write it: slow ranks, slower links, failures.
#pragma once
#include <cstdint>
#include <string>

#include "sim/failures.h"
#include "sim/simulate.h"

namespace trireme {

// "rank=3:1.3x": rank 3 takes 1.3 times as long for all it computes. UserError when it is not of that form,
// the rank is none of 0 to ranks - 1, or the factor is not above 0.
SlowRank parse_slow(const std::string& text, int64_t ranks);

// "between:0.5x": links between nodes have half of their bandwidth; "inside:0.5x": those inside. UserError.
void parse_link(const std::string& text, Disturbance& disturbance);

// "step=120:restart=300s": a failure while step 120 runs, and the time until ranks run again;
// "step=120:rank=7:restart=300s" says whose. UserError when the step is none of 1 to steps, or as above.
RunFailure parse_failure(const std::string& text, int64_t steps, int64_t ranks);

}  // namespace trireme
