// Lines of JSON, and two kinds of lines of the log.
#include "plan/compare/run_record.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace trireme {
namespace {

template <class Visit>
void for_lines(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

constexpr double kLeast_s = 1e-9, kMost = 1e15;  // of a step; of any number

// Of NaN and infinities, which metrics write as strings, and of keys that are not there: 0.
double number_at(const nlohmann::json& line, const char* key) {
  const auto at = line.find(key);
  const double number = at != line.end() && at->is_number() ? at->get<double>() : 0;
  return number >= 0 && number <= kMost ? number : 0;
}

std::optional<RecordedStep> step_of(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return std::nullopt;
  RecordedStep step{.step = json["step"].get<int64_t>(),
                    .step_s = number_at(json, "step_s"),
                    .loader_stall_s = number_at(json, "loader_stall_s"),
                    .exposed_comm_s = number_at(json, "exposed_comm_s"),
                    .blocked_s = number_at(json, "ckpt_blocked_s"),
                    .saved_bytes = static_cast<int64_t>(number_at(json, "ckpt_bytes"))};
  if (step.step < 1 || step.step_s < kLeast_s) return std::nullopt;
  return step;
}

// The whole number behind `lead` in a line.
std::optional<int64_t> number_behind(std::string_view line, std::string_view lead) {
  const size_t at = line.rfind(lead);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + lead.size());
  int64_t number = 0;
  const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), number);
  return fault == std::errc() ? std::optional(number) : std::nullopt;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

RunRecord read_run(const std::string& metrics, const std::string& log, const std::string& name) {
  RunRecord run;
  std::map<int64_t, RecordedStep> steps;
  for_lines(metrics, [&](std::string_view line) {
    if (const auto step = step_of(line))
      steps[step->step] = *step;  // a later line supersedes
    else
      ++run.unreadable_lines;
  });
  if (steps.empty())
    fail_user("{} has no steps of a run: let it do a few, or give the folder of another run", name);
  for (const auto& [number, step] : steps) run.steps.push_back(step);
  run.first_steps.insert(run.steps.front().step);
  for_lines(log, [&](std::string_view line) {
    if (const auto bytes = number_behind(line, "memory: one arena of ");
        bytes && line.find(" bytes (") != line.npos)
      run.arena_bytes = bytes;
    if (line.find("resumed from ") == std::string_view::npos) return;
    if (const auto step = number_behind(line, ": step ")) run.first_steps.insert(*step + 1);
  });
  return run;
}

UsualStep usual_step(const RunRecord& run, const std::set<int64_t>& unusual) {
  std::vector<RecordedStep> usual;
  for (const RecordedStep& step : run.steps)
    if (!run.first_steps.contains(step.step) && !unusual.contains(step.step)) usual.push_back(step);
  if (usual.empty()) usual = run.steps;
  std::vector<double> step_s, exposed_s;
  UsualStep result{.steps = static_cast<int64_t>(usual.size())};
  for (const RecordedStep& step : usual) {
    step_s.push_back(step.step_s);
    exposed_s.push_back(step.exposed_comm_s);
    result.loader_stall_s += step.loader_stall_s / static_cast<double>(usual.size());
  }
  for (const RecordedStep& step : run.steps) {
    result.saves += step.saved_bytes > 0 ? 1 : 0;
    result.blocked_s += step.blocked_s;
  }
  if (result.saves > 0) result.blocked_s /= static_cast<double>(result.saves);
  result.step_s = median(std::move(step_s));
  result.exposed_comm_s = median(std::move(exposed_s));
  return result;
}

}  // namespace trireme
