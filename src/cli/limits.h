// Limits of an option's number, said as those of the config's keys are.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace trireme::cli {

// "--ranks: 0 must be from 1 to 1048576". Whole numbers that stand for a count.
inline CLI::Validator between(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        int64_t value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return std::string();
        return fmt::format("{} must be from {} to {}", text, least, most);
      },
      "");
}

// "--temperature: -1 must be at least 0".
inline CLI::Validator at_least(int64_t least) {
  return CLI::Validator(
      [least](const std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= static_cast<double>(least))
          return std::string();
        return fmt::format("{} must be at least {}", text, least);
      },
      "");
}

// "--mtbf: nan must be from 0.001 to 1e+12".
inline CLI::Validator number_between(double least, double most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return std::string();
        return fmt::format("{} must be from {:g} to {:g}", text, least, most);
      },
      "");
}

}  // namespace trireme::cli
