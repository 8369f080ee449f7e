// What the calculators answer: results, each with the formula that gave it, in symbols and with the numbers
// in it. cli/answer_output.h prints an Answer as text or JSON.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

struct Worked {
  std::string key;               // "hours": unique in its Answer, the name in JSON
  std::string label;             // "time", for people
  double value = 0;              // in `unit`
  std::string unit;              // "h", "B", "FLOP/s"; a fraction has ""
  std::string shown;             // the value for people: "460.8 h"
  std::string formula, numbers;  // "6 * N * D / ...", "6 * 7e9 * 1e12 / ..."; empty where it was just given
};

struct AnswerSection {
  std::string title;  // with the source of its formulas
  std::vector<Worked> results;
};

struct Answer {
  std::vector<AnswerSection> sections;
  std::vector<std::string> notes;  // assumptions, warnings, the verdict: a sentence each
};

// The result with that key, or nullptr.
const Worked* find_result(const Answer& answer, std::string_view key);

// --- numbers for people -----------------------------------------------------------------------------------

inline constexpr double kHour_s = 3600, kDay_s = 24 * kHour_s;

// Up to 6 digits: "8192", "0.4", "7e9", "989.4e12", "1.5e-7".
std::string plain(double value);
std::string as_bytes(double bytes);                              // "36.5 GB", of 1e9
std::string as_percent(double fraction);                         // "40.0 %"
std::string as_duration(double seconds);                         // "45 s", "1 h 57 min", "12 days 3 h"
std::string as_money(double amount, std::string_view currency);  // "12,345.67 USD"

// Results by what they are measured in: `shown` follows from the value.
Worked worked_bytes(Worked result);
Worked worked_fraction(Worked result);
Worked worked_seconds(Worked result);
// `shown` is plain(value) and the unit.
Worked worked_number(Worked result);

}  // namespace trireme
