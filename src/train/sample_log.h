// samples.jsonl: which windows of the data each step trained on (data.log_samples).
#pragma once
#include <optional>
#include <string>

#include "io/data/dataset.h"
#include "obs/metrics.h"

namespace trireme {

class SampleLog {
 public:
  // path "": writes nothing. Lines of steps after `resumed_step` are superseded.
  SampleLog(const std::string& path, int64_t resumed_step);

  // One line: step, first_sample (position in the data order), and the ids "source:epoch:window ..." of the
  // whole step's samples, `sequences` of them, those of other ranks included.
  void write(int64_t step, const Dataset& data, int64_t first_sample, int64_t sequences);
  // Makes the lines durable; call before a checkpoint that relies on them.
  void sync();

 private:
  std::optional<MetricsWriter> lines_;
};

}  // namespace trireme
