// Rows of the loader as the engine's micro-batches.
#pragma once
#include <vector>

#include "engine/engine.h"
#include "io/data/loader.h"

namespace trireme {

// Pointers into `rows` for each micro-batch of `micro` sequences, by the fields of program.batch. Valid as
// long as the rows.
std::vector<BatchArrays> micro_batches(const Program& program, const StepBatch& rows, int64_t micro,
                                       int64_t seq_len);

}  // namespace trireme
