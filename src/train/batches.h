// Rows of the loader as the engine's micro-batches.
#pragma once
#include <vector>

#include "config/run_spec.h"
#include "engine/engine.h"
#include "io/data/loader.h"

namespace trireme {

// Which of every step's samples a rank reads, from position `first_sample` of the data on. Data-parallel
// ranks have contiguous parts, in their order; all ranks of one pipeline have the same.
LoaderOptions rows_of_rank(const RunSpec& spec, const Mesh& mesh, int rank, int64_t first_sample);

// Pointers into `rows` for each micro-batch of `micro` sequences, by the fields of program.batch. Valid as
// long as the rows.
std::vector<BatchArrays> micro_batches(const Program& program, const StepBatch& rows, int64_t micro,
                                       int64_t seq_len);

}  // namespace trireme
