// A comparison for people, and the same for machines: unrounded, with null where a run did not record it.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/compare/compare.h"
#include "plan/json_parts.h"
#include "plan/quantities.h"

namespace trireme {
namespace {

std::string value_text(double value, ComparedUnit unit) {
  if (std::isnan(value)) return "not recorded";
  switch (unit) {
    case ComparedUnit::seconds:
      return compared_s(value);
    case ComparedUnit::tokens_per_s:
      return fmt::format("{:.0f} tokens/s", value);
    case ComparedUnit::percent:
      return fmt::format("{:.1f} %", value);
    case ComparedUnit::bytes:
      return fmt::format("{:.0f} B", value);
  }
  return "";
}

std::string ratio_text(const ComparedLine& line) {
  if (std::isnan(line.measured) || line.predicted == 0) return "";
  if (line.measured == line.predicted) return "equal";
  return fmt::format("{:.3f}", line.measured / line.predicted);
}

std::string_view unit_name(ComparedUnit unit) {
  switch (unit) {
    case ComparedUnit::seconds:
      return "s";
    case ComparedUnit::tokens_per_s:
      return "tokens/s";
    case ComparedUnit::percent:
      return "%";
    case ComparedUnit::bytes:
      return "B";
  }
  return "";
}

}  // namespace

std::string compared_s(double seconds) { return seconds_text(seconds, 4); }

std::string to_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedGroup& group : comparison.groups) {
    text += fmt::format("{:<44} {:>18} {:>18} {:>8}\n", group.title, "measured", "predicted", "ratio");
    for (const ComparedLine& line : group.lines) {
      text += fmt::format("  {:<42} {:>18} {:>18} {:>8}", line.what, value_text(line.measured, line.unit),
                          value_text(line.predicted, line.unit), ratio_text(line));
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
    text += '\n';
  }
  for (const Off& off : comparison.off)
    text += fmt::format("{:>+10.2f} ms a step: {}\n", off.seconds * 1e3, off.text);
  return text + "\n" + comparison.verdict + "\n";
}

std::string to_json(const Comparison& comparison, const Cluster& cluster) {
  nlohmann::ordered_json json = {{"cluster", cluster_json(cluster)},
                                 {"groups", nlohmann::ordered_json::array()},
                                 {"off", nlohmann::ordered_json::array()}};
  for (const ComparedGroup& group : comparison.groups) {
    auto& lines = json["groups"].emplace_back(nlohmann::ordered_json{{"title", group.title}})["lines"];
    for (const ComparedLine& line : group.lines)
      lines.push_back({{"what", line.what},
                       {"unit", unit_name(line.unit)},
                       {"measured", line.measured},
                       {"predicted", line.predicted}});
  }
  for (const Off& off : comparison.off) json["off"].push_back({{"seconds", off.seconds}, {"text", off.text}});
  json["verdict"] = comparison.verdict;
  return json.dump(2) + "\n";
}

}  // namespace trireme
