// Digits at their places, and what the calendar says of them.
#include "base/day.h"

#include "base/parse_text.h"

namespace trireme {

std::optional<std::chrono::sys_days> day_named(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = parse_number<unsigned>(text.substr(0, 4)),
             month = parse_number<unsigned>(text.substr(5, 2)), day = parse_number<unsigned>(text.substr(8));
  if (!year || !month || !day || *year < 1970 || *year > 2999) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok()) return std::nullopt;
  return date;
}

}  // namespace trireme
