// A config's text, its --set arguments and a config.json from any bytes: each gives a spec or a UserError. A
// spec's canonical text must resolve to itself. The input is cut at zero bytes: TOML, then up to four
// overrides; an input that begins with '{' is a config.json instead.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/hf_config.h"
#include "config/run_spec.h"

namespace {

// A whole config, so that overrides alone reach past the checks for missing keys.
const std::string kWhole = R"(
model = {family = "llama", layers = 2, width = 64, heads = 4, vocab = 257, context = 64}
data = {train = ["a"]}
batch = {sequences = 8}
optimizer = {lr = 1e-3}
run = {name = "x", steps = 10}
)";

// A path named by the input must not be opened.
bool may_name_hf(const std::string& text) {
  for (const char* part : {"hf", "\\u", "\\U"})
    if (text.find(part) != std::string::npos) return true;
  return false;
}

void check_reads_back(const trireme::RunSpec& spec) {
  const std::string canonical = trireme::to_toml(spec);
  try {
    const trireme::RunSpec again = trireme::parse_config(canonical, "canonical");
    CHECK(trireme::to_toml(again) == canonical, "{}", canonical);
    CHECK(trireme::diff(spec, again).empty(), "{}", canonical);
  } catch (const trireme::UserError& error) {
    CHECK(false, "{}: {}", error.what(), canonical);
  }
}

void fuzz_config(const std::string& text, const std::vector<std::string>& overrides) {
  if (std::any_of(overrides.begin(), overrides.end(), may_name_hf) || may_name_hf(text)) return;
  std::optional<trireme::RunSpec> spec;
  try {
    spec = trireme::parse_config(text, "a.toml", overrides);
  } catch (const trireme::UserError&) {
    return;
  }
  check_reads_back(*spec);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (!input.empty() && input[0] == '{') {
    try {
      trireme::parse_hf_config(std::string(input), "config.json");
    } catch (const trireme::UserError&) {
    }
    return 0;
  }
  std::vector<std::string> parts;
  while (parts.size() < 5) {
    const size_t end = input.find('\0');
    parts.emplace_back(input.substr(0, end));
    if (end == std::string_view::npos) break;
    input.remove_prefix(end + 1);
  }
  const std::string text = parts[0];
  fuzz_config(text, {parts.begin() + 1, parts.end()});
  fuzz_config(kWhole, parts);
  return 0;
}
