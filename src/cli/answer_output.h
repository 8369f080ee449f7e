// An Answer for people or, with --json, for machines.
#pragma once
#include <cstdint>
#include <string>

#include "cli/command.h"
#include "plan/calculators/worked.h"

namespace trireme::cli {

enum class AnswerForm : uint8_t { text, json };
// --json; text without it.
void add_json(CLI::App& command, AnswerForm& form);

// To stdout. JSON: {"results": {KEY: {"value", "unit", "label", "formula", "numbers", "shown", "section"}},
// "notes": []}.
void print_answer(const Answer& answer, AnswerForm form);
std::string answer_text(const Answer& answer);

}  // namespace trireme::cli
