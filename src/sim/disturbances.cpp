// Texts of fields joined by ":".
#include "sim/disturbances.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/parse_text.h"

namespace trireme {
namespace {

constexpr double kLeastFactor = 1e-3, kMostFactor = 1e3, kMostRestart_s = 1e7;

// What follows `name` in "rank=3"; nothing where the field is another one.
std::optional<std::string_view> value_of(std::string_view field, std::string_view name) {
  if (!field.starts_with(name) || field.size() <= name.size() || field[name.size()] != '=')
    return std::nullopt;
  return field.substr(name.size() + 1);
}

// "1.3x".
double factor_of(std::string_view text, std::string_view given) {
  const bool marked = text.ends_with('x');
  const auto factor = parse_number<double>(marked ? text.substr(0, text.size() - 1) : text);
  if (!marked || !factor)
    fail_user("{}: {} is no factor; write it as {}", given, text,
              factor ? fmt::format("{}x", *factor) : "1.3x");
  if (!std::isfinite(*factor) || *factor < kLeastFactor || *factor > kMostFactor)
    fail_user("{}: the factor {} must be from {} to {}", given, text, kLeastFactor, kMostFactor);
  return *factor;
}

int32_t rank_of(std::string_view text, int64_t ranks, std::string_view given) {
  const auto rank = parse_number<int64_t>(text);
  if (!rank || *rank < 0 || *rank >= ranks)
    fail_user("{}: rank {} is none of the run's {}, which are 0 to {}", given, text, ranks, ranks - 1);
  return static_cast<int32_t>(*rank);
}

}  // namespace

SlowRank parse_slow(const std::string& text, int64_t ranks) {
  const std::string given = "--slow " + text;
  const std::vector<std::string_view> fields = split_at(':', text);
  const auto rank = value_of(fields[0], "rank");
  if (fields.size() != 2 || !rank) fail_user("{}: write it as rank=3:1.3x", given);
  return {rank_of(*rank, ranks, given), factor_of(fields[1], given)};
}

void parse_link(const std::string& text, Disturbance& disturbance) {
  const std::string given = "--link " + text;
  const std::vector<std::string_view> fields = split_at(':', text);
  if (fields.size() != 2) fail_user("{}: write it as between:0.5x or inside:0.5x", given);
  const double bandwidth = factor_of(fields[1], given);
  if (fields[0] == "between")
    disturbance.between_slower = 1 / bandwidth;
  else if (fields[0] == "inside")
    disturbance.inside_slower = 1 / bandwidth;
  else
    fail_user("{}: there are links inside a node and between nodes, but none {}; write {}:{}", given,
              fields[0], fields[0].starts_with("i") ? "inside" : "between", fields[1]);
}

RunFailure parse_failure(const std::string& text, int64_t steps, int64_t ranks) {
  const std::string given = "--fail " + text;
  RunFailure failure;
  std::set<std::string_view> given_already;
  for (const std::string_view field : split_at(':', text)) {
    const std::string_view name = field.substr(0, field.find('='));
    if (!given_already.insert(name).second && !name.empty())
      fail_user("{}: {} is given twice; write a --fail for each failure", given, name);
    if (const auto step = value_of(field, "step")) {
      const auto number = parse_number<int64_t>(*step);
      if (!number || *number < 1 || *number > steps)
        fail_user("{}: step {} is none of the run's, which are 1 to {} (run.steps)", given, *step, steps);
      failure.step = *number;
    } else if (const auto rank = value_of(field, "rank")) {
      failure.rank = rank_of(*rank, ranks, given);
    } else if (const auto restart = value_of(field, "restart"); restart && restart->ends_with('s')) {
      const auto seconds = parse_number<double>(restart->substr(0, restart->size() - 1));
      if (!seconds || !(*seconds >= 0 && *seconds <= kMostRestart_s))
        fail_user("{}: a restart of {} must be from 0s to {:.0f}s", given, *restart, kMostRestart_s);
      failure.restart_s = *seconds;
    } else {
      fail_user("{}: {} is not known; write it as step=120:restart=300s or step=120:rank=7:restart=300s",
                given, field.empty() ? "an empty field" : field);
    }
  }
  if (failure.step == 0) fail_user("{}: at which step? Write it as step=120:restart=300s", given);
  return failure;
}

}  // namespace trireme
