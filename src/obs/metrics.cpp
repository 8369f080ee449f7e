// Lines of metrics: written by hand, so that numbers are the shortest that read back; parsed for a resume.
#include "obs/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace trireme {
namespace {

template <class T>
std::string number_text(T value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  const std::string text = fmt::format("{}", value);
  // "-0" would be an integer to a JSON reader and lose its sign; "1" loses nothing but its kind.
  return text == "-0" ? "-0.0" : text;
}

struct ValueText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return number_text(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const std::vector<double>& values) const {
    std::string text;
    for (const double value : values) text += (text.empty() ? "" : ",") + number_text(value);
    return "[" + text + "]";
  }

  static std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
};

// The step of a whole line; empty for a torn or foreign one.
std::optional<int64_t> step_of(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return std::nullopt;
  return json["step"].get<int64_t>();
}

struct Trimmed {
  std::string text;
  int64_t taken_out = 0;
};

Trimmed trim(std::string_view text, int64_t resumed_step) {
  Trimmed kept;
  int64_t last = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::optional<int64_t> step = end == std::string_view::npos ? std::nullopt : step_of(line);
    if (step && *step > last && *step <= resumed_step) {
      kept.text.append(line).push_back('\n');
      last = *step;
    } else {
      ++kept.taken_out;
    }
  }
  return kept;
}
}  // namespace

std::string metrics_line(int64_t step, std::span<const Metric> metrics) {
  std::string line = fmt::format("{{\"step\":{}", step);
  for (const Metric& metric : metrics) {
    line += fmt::format(",{}:{}", ValueText::quoted(metric.name), std::visit(ValueText(), metric.value));
  }
  return line + "}";
}

MetricsWriter::MetricsWriter(const std::string& path, int64_t resumed_step) {
  const Trimmed kept = trim(read_file(path), resumed_step);
  superseded_ = kept.taken_out;
  if (superseded_ > 0) replace_file(path, [&](AppendFile& file) { file.append(kept.text); });
  file_.emplace(path);
}

void MetricsWriter::write(int64_t step, std::span<const Metric> metrics) {
  file_->append(metrics_line(step, metrics) + "\n");
}

void MetricsWriter::sync() { file_->sync(); }

}  // namespace trireme
