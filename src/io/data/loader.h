// Reads the next steps' rows ahead of the training loop on a thread of its own.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "io/data/dataset.h"

namespace trireme {

struct LoaderOptions {
  int64_t first_sample = 0;    // position of the first sample of the first step: what a checkpoint stores
  int64_t step_sequences = 1;  // sequences of one optimizer step, all ranks together
  int64_t offset = 0;          // this rank's contiguous part of every step's samples
  int64_t count = 0;           // ... 0: all of them from offset on
  int64_t ahead = 2;           // steps that are read ahead, >= 1
};

// This rank's rows of one optimizer step, in sample order; row r is elements [r*T, r*T + T). Micro-batch m of
// b sequences is rows [m*b, m*b + b).
struct StepBatch {
  int64_t first_sample = 0;  // position of the whole step's first sample; the next step's is + step_sequences
  int64_t rows = 0;          // R = LoaderOptions::count
  std::vector<int32_t> tokens;     // R*T
  std::vector<int32_t> targets;    // R*T, -1 = not counted
  std::vector<int32_t> positions;  // R*T with document packing, else empty
  std::vector<int32_t> doc_start;  // R*T with document packing, else empty
  std::vector<int64_t> counted;    // R: counted targets of each row
  std::vector<SampleId> ids;       // R
  std::vector<SampleId> wraps;     // first samples of an epoch > 0 among ALL the step's samples, to be logged
};

// A batch before its rows are read: ids 0, no target counted; what the packing does not use is empty.
StepBatch blank_batch(int64_t rows, const DataOptions& options);
// Row `row` of the batch, to be read into.
SampleRow row_of(StepBatch& batch, int64_t row, int64_t seq_len);

class Loader {
 public:
  // `data` must outlive the loader. Starts reading at once.
  Loader(const Dataset& data, const LoaderOptions& options);
  Loader(Loader&&) noexcept;
  ~Loader();  // stops the thread within one row's time

  // The next step's rows; valid until the next call. Rethrows what the reading thread met (and then again on
  // every later call). With order fixed, a step past the last window is such a failure (UserError).
  const StepBatch& next();

  // Seconds that next() has waited for the thread so far, the first call left out (nothing could be ready).
  double stall_s() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
