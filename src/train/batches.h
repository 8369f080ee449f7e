// Rows of the loader as the engine's micro-batches.
#pragma once
#include <vector>

#include "config/run_spec.h"
#include "engine/engine.h"
#include "io/data/loader.h"

namespace trireme {

// Which of every step's samples a rank reads, from position `first_sample` of the data on. Data-parallel
// ranks have contiguous parts, in their order; all ranks of one pipeline have the same, and so have those
// that share sequences (cp) or layers (tp).
LoaderOptions rows_of_rank(const RunSpec& spec, const Mesh& mesh, int rank, int64_t first_sample);

// What the rank has of every row: its positions on the context axis, in the order in which it holds them
// (ops/attention/context_rows.h). Positions are explicit then; doc_start counts in the whole row. counted and
// ids stay those of the whole rows.
StepBatch context_part(const StepBatch& rows, const RunSpec& spec, const Mesh& mesh, int rank);

struct MicroBatches {
  std::vector<BatchArrays> arrays;  // by micro-batch, by the fields of program.batch
  StepBatch part;  // what they point into where sequences are cut, or positions told, else empty
};

// Micro-batches of spec.batch.micro sequences for the program's rank. Valid as long as the rows.
MicroBatches micro_batches(const Program& program, const StepBatch& rows, const RunSpec& spec);

}  // namespace trireme
