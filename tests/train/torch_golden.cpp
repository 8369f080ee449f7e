// The draws of tests/golden/torch/, number by number.
#include "train/torch_golden.h"

#include <fstream>

#include "base/random.h"

namespace trireme {

using nlohmann::json;

json load_golden(const std::string& name) {
  std::ifstream file(std::string(TRIREME_SOURCE_DIR) + "/tests/golden/torch/" + name + ".json");
  return json::parse(file);
}

std::string toml_value(const json& value) {
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, item] : value.items())
    text += (text.empty() ? "" : ", ") + key + " = " + toml_value(item);
  return "{" + text + "}";
}

std::vector<float> golden_weights(const ParamSpec& param) {
  const RandomStream stream(1, "golden/" + param.name);
  const bool gain = param.name.ends_with("norm.weight");
  std::vector<float> values(static_cast<size_t>(count(param.shape)));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = static_cast<float>((gain ? 1.0 : 0.0) + (stream.uniform(k) - 0.5) * 0.2);
  return values;
}

GoldenRows golden_rows(int64_t first, int64_t count, int64_t length, int64_t vocab) {
  const RandomStream copy(1, "golden/copy"), draw(1, "golden/tokens");
  GoldenRows rows;
  for (int64_t k = first; k < first + count; ++k) {
    int64_t previous = 0;
    for (int64_t t = 0; t <= length; ++t) {
      const auto at = static_cast<uint64_t>(k * (length + 1) + t);
      const double u = draw.uniform(at);
      const bool copied = t > 0 && copy.uniform(at) < 0.5;
      const int64_t token = copied ? (5 * previous + 17) % vocab
                                   : static_cast<int64_t>(((u * u) * u) * static_cast<double>(vocab));
      if (t < length) rows.tokens.push_back(static_cast<int32_t>(token));
      if (t > 0) rows.targets.push_back(static_cast<int32_t>(token));
      previous = token;
    }
  }
  return rows;
}

}  // namespace trireme
