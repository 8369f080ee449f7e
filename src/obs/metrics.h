// metrics.jsonl: one JSON object per line and step, the first key "step". Numbers are the shortest text that
// reads back to the same bits (a float's as a float, a double's as a double); NaN and infinities, which JSON
// lacks, are the strings "nan", "inf", "-inf".
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "obs/append_file.h"

namespace trireme {

struct Metric {
  std::string name;
  std::variant<int64_t, float, double, bool, std::string, std::vector<double>> value;
};

// The line without its newline, as written.
std::string metrics_line(int64_t step, std::span<const Metric> metrics);

class MetricsWriter {
 public:
  // Appends to `path`, made if absent. Lines of steps after `resumed_step`, doubled steps and torn lines
  // are taken out first, in one atomic replacement, so that each step stands once. 0 starts anew.
  MetricsWriter(const std::string& path, int64_t resumed_step);

  // One line in one write: a kill leaves it whole, or torn at the end where the next resume trims it.
  void write(int64_t step, std::span<const Metric> metrics);
  // Makes the lines durable; call before a checkpoint that relies on them.
  void sync();

  int64_t superseded() const { return superseded_; }  // lines taken out at the start

 private:
  std::optional<AppendFile> file_;
  int64_t superseded_ = 0;
};

}  // namespace trireme
