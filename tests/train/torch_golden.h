// What the scripts in tests/golden/torch/ and the tests share: the goldens' files, and the weights and tokens
// that both sides draw.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/model.h"

namespace trireme {

nlohmann::json load_golden(const std::string& name);

// "{a = 1, b = 2}" of an object, else the value as it stands in a config.
std::string toml_value(const nlohmann::json& value);

// A parameter's first values.
std::vector<float> golden_weights(const ParamSpec& param);

// Sequences [first, first + count) of `length` tokens: half of the tokens follow from the ones before.
struct GoldenRows {
  std::vector<int32_t> tokens, targets;  // [count,length]
};
GoldenRows golden_rows(int64_t first, int64_t count, int64_t length, int64_t vocab);

}  // namespace trireme
