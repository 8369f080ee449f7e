// A small whole config as text, and what a wrong one says.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "config/run_spec.h"

namespace trireme::test {

inline const std::string kBase = R"([model]
family = "gpt2"
layers = 2
width = 64
heads = 4
vocab = 257
context = 64
[data]
train = ["shards/train*.bin"]
[batch]
sequences = 8
[optimizer]
lr = 1e-3
[run]
name = "demo"
steps = 10
)";

// The base as a llama.
inline const std::vector<std::string> kLlama = {"model.family=llama"};

inline RunSpec with(const std::vector<std::string>& overrides) {
  return parse_config(kBase, "base.toml", overrides);
}

// The message of the UserError, or "no error".
inline std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_config(text, "a.toml", overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// With --ranks.
inline RunSpec on_ranks(int64_t ranks, const std::vector<std::string>& overrides) {
  return parse_config(kBase, "base.toml", overrides, ranks);
}
inline std::string ranks_error(int64_t ranks, const std::vector<std::string>& overrides) {
  try {
    on_ranks(ranks, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string error_with(const std::vector<std::string>& overrides) {
  return error_of(kBase, overrides);
}

}  // namespace trireme::test
