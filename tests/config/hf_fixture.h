// Models from a config.json, and what a wrong one says.
#pragma once
#include <string>
#include <vector>

#include "config/hf_config.h"
#include "config_fixture.h"

namespace trireme::test {

// `path`: a file. The rest of the config is the base's.
inline ModelSpec from_hf(const std::string& path, std::vector<std::string> more = {}) {
  more.push_back("model.hf=" + path);
  more.push_back("data.seq_len=16");
  return parse_config(kBase.substr(kBase.find("[data]")), "a.toml", more).model;
}

// A file that transformers wrote.
inline std::string golden_path(const std::string& name) {
  return TRIREME_SOURCE_DIR "/tests/golden/config/" + name + ".json";
}
inline ModelSpec from_golden(const std::string& name, const std::vector<std::string>& more = {}) {
  return from_hf(golden_path(name), more);
}

// The message of the UserError, or "no error".
inline std::string hf_error(const std::string& json) {
  try {
    parse_hf_config(json, "config.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace trireme::test
