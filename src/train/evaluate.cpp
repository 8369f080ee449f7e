// Rows are read at construction, so an evaluation is one run of the "eval" timeline.
#include "train/evaluate.h"

#include <algorithm>
#include <numbers>

#include "base/error.h"
#include "train/batches.h"
#include "train/data_options.h"

namespace trireme {

EvalSet::EvalSet(const RunSpec& spec, std::optional<uint32_t> eot, const Tokenizer* tokenizer)
    : spec_(spec),
      micro_(spec.batch.micro),
      seq_len_(spec.data.seq_len),
      data_(validation_options(spec, eot)),
      sequences_(std::min(spec.eval.sequences, data_.samples_per_epoch())),
      has_bytes_(tokenizer != nullptr) {
  rows_ = blank_batch(micro_batches() * micro_, data_.options());
  for (int64_t row = 0; row < sequences_; ++row) counted_ += data_.sample(row, row_of(rows_, row, seq_len_));
  if (!has_bytes_) return;
  const std::optional<uint32_t> special = end_of_text(*tokenizer);
  for (const int32_t target : rows_.targets)
    if (target >= 0 && (!special || static_cast<uint32_t>(target) != *special) &&
        target < vocab_size(*tokenizer))
      bytes_ += static_cast<int64_t>(token_bytes(*tokenizer, static_cast<uint32_t>(target)).size());
}

int64_t EvalSet::micro_batches() const { return eval_micro_batches(spec_, sequences_); }

EvalResult EvalSet::run(Engine& engine) const {
  const Timeline* timeline = find_timeline(engine.program(), "eval");
  const Mesh& mesh = engine.program().mesh;
  CHECK(timeline != nullptr && timeline->micro_batches * mesh.data_parallel() == micro_batches(),
        "the program evaluates another set");
  const auto count = static_cast<size_t>(timeline->micro_batches);
  const MicroBatches all = trireme::micro_batches(engine.program(), rows_, spec_);
  const auto part = static_cast<size_t>(mesh.data_parallel_index(engine.program().rank));
  engine.run(*timeline, std::span(all.arrays).subspan(part * count, count));
  double sums[2] = {0, 0};
  engine.read_buffer(engine.program().result, sums, sizeof sums);
  EvalResult result;
  result.counted_tokens = counted_;
  result.loss = sums[0] / static_cast<double>(std::max<int64_t>(counted_, 1));
  if (has_bytes_ && bytes_ > 0)
    result.bits_per_byte = sums[0] / std::numbers::ln2 / static_cast<double>(bytes_);
  return result;
}

}  // namespace trireme
