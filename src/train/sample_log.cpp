// Sample ids as lines of the metrics writer, which keeps each step once across resumes.
#include "train/sample_log.h"

#include <fmt/format.h>

#include <array>

namespace trireme {

SampleLog::SampleLog(const std::string& path, int64_t resumed_step) {
  if (!path.empty()) lines_.emplace(path, resumed_step);
}

void SampleLog::write(int64_t step, const Dataset& data, int64_t first_sample, int64_t sequences) {
  if (!lines_) return;
  std::string ids;
  for (int64_t position = first_sample; position < first_sample + sequences; ++position) {
    const SampleId id = data.where(position);
    ids += fmt::format("{}{}:{}:{}", ids.empty() ? "" : " ", id.source, id.epoch, id.window);
  }
  lines_->write(step, std::array{Metric{"first_sample", first_sample}, Metric{"ids", ids}});
}

void SampleLog::sync() {
  if (lines_) lines_->sync();
}

}  // namespace trireme
