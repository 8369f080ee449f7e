// A small hardware file to break one line of.
#pragma once
#include <string>

#include "base/error.h"
#include "hardware/read.h"

namespace trireme::test {

inline const std::string kMachine = R"(name = "box"
device = "a box"
kind = "cpu"
collectives = "direct"
[sources.sheet]
title = "the sheet"
date = "2024-05"
[peak]
fp32 = { is = "198 GFLOP/s", from = "sheet" }
[memory]
size = { is = "24 GiB", from = "sheet" }
bandwidth = { is = "35 GB/s", from = "sheet" }
overhead = { is = "200 MB", from = "sheet" }
[kernels]
launch = { is = "2 us", from = "sheet" }
product = { is = 0.9, from = "sheet" }
attention = { is = 0.5, from = "sheet" }
attention_grad = { is = 0.4, from = "sheet" }
memory = { is = 0.8, from = "sheet" }
[node]
devices = { is = 2, from = "sheet" }
[inside]
bandwidth = { is = "8 GB/s", from = "sheet" }
efficiency = { is = 1, from = "sheet" }
latency = { is = "5 us", from = "sheet" }
[host]
bandwidth = { is = "8 GB/s", from = "sheet" }
[store]
bandwidth = { is = "1 GB/s", from = "sheet" }
)";

// The machine with `from` replaced by `to`, once.
inline std::string changed(const std::string& from, const std::string& to) {
  std::string text = kMachine;
  const size_t at = text.find(from);
  CHECK(at != std::string::npos, "{}", from);
  return text.replace(at, from.size(), to);
}

inline std::string error_of(const std::string& text) {
  try {
    parse_hardware(text, "box.toml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace trireme::test
