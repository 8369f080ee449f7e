// Validation: the loss of the weights as they are on a fixed set of sequences.
#pragma once
#include <optional>

#include "config/run_spec.h"
#include "engine/engine.h"
#include "io/data/loader.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {

struct EvalResult {
  double loss = 0;  // nats per counted token
  int64_t counted_tokens = 0;
  std::optional<double> bits_per_byte;  // needs the tokenizer; special tokens count no bytes
};

// The validation set of a config, read once: sequences in file order, the same at every evaluation.
class EvalSet {
 public:
  // UserError when data.val is empty or too short. tokenizer may be null.
  EvalSet(const RunSpec& spec, std::optional<uint32_t> eot, const Tokenizer* tokenizer);

  int64_t sequences() const { return sequences_; }
  int64_t micro_batches() const;  // of all data-parallel ranks; filled up with rows that do not count
  const Dataset& data() const { return data_; }

  // The engine's program must have an "eval" timeline of its data-parallel rank's contiguous part of them;
  // the ranks run together, and each gets the result of the whole set.
  EvalResult run(Engine& engine) const;

 private:
  RunSpec spec_;
  int64_t micro_, seq_len_;
  Dataset data_;
  int64_t sequences_;
  int64_t counted_ = 0, bytes_ = 0;
  bool has_bytes_;
  StepBatch rows_;
};

}  // namespace trireme
