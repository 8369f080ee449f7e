// A line per result where it fits; else a line per step of it.
#include "cli/answer_output.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace trireme::cli {
namespace {

constexpr size_t kColumns = 110;

std::string result_text(const Worked& result, size_t label_columns) {
  std::vector<std::string> steps;
  for (const std::string& step : {result.formula, result.numbers, result.shown})
    if (!step.empty() && (steps.empty() || steps.back() != step)) steps.push_back(step);
  std::string line = fmt::format("  {:<{}}  ", result.label, label_columns);
  const std::string indent(line.size(), ' ');
  std::string one_line = line;
  for (size_t i = 0; i < steps.size(); ++i) one_line += (i > 0 ? " = " : "") + steps[i];
  if (one_line.size() <= kColumns) return one_line + "\n";
  for (size_t i = 0; i < steps.size(); ++i) line += (i > 0 ? "\n" + indent + "= " : "") + steps[i];
  return line + "\n";
}

}  // namespace

void add_json(CLI::App& command, AnswerForm& form) {
  command.add_flag_callback(
      "--json", [&form] { form = AnswerForm::json; }, "for machines");
}

std::string answer_text(const Answer& answer) {
  std::string text;
  for (const AnswerSection& section : answer.sections) {
    if (!text.empty()) text += "\n";
    text += section.title + "\n";
    size_t columns = 0;
    for (const Worked& result : section.results) columns = std::max(columns, result.label.size());
    for (const Worked& result : section.results) text += result_text(result, columns);
  }
  if (!answer.notes.empty()) text += "\n";
  for (const std::string& note : answer.notes) text += note + "\n";
  return text;
}

void print_answer(const Answer& answer, AnswerForm form) {
  if (form == AnswerForm::text) {
    std::fputs(answer_text(answer).c_str(), stdout);
    return;
  }
  nlohmann::ordered_json json;
  json["results"] = nlohmann::ordered_json::object();
  for (const AnswerSection& section : answer.sections)
    for (const Worked& result : section.results)
      json["results"][result.key] = {{"value", result.value},     {"unit", result.unit},
                                     {"label", result.label},     {"formula", result.formula},
                                     {"numbers", result.numbers}, {"shown", result.shown},
                                     {"section", section.title}};
  json["notes"] = answer.notes;
  std::printf("%s\n", json.dump(2).c_str());
}

}  // namespace trireme::cli
