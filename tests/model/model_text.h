// What tests read off a model: parameters by name, ops as text.
#pragma once
#include <stdexcept>
#include <string>

#include "model/model.h"

namespace trireme {

inline const ParamSpec& param_named(const Model& model, const std::string& name) {
  for (const ParamSpec& param : model.params)
    if (param.name == name) return param;
  throw std::out_of_range(name);
}

// The ops of a graph's text, without attributes.
inline std::string ops_in(const std::string& text) {
  std::string ops;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with("  op ")) ops += line.substr(5, line.find(" {") - 5) + "\n";
    begin = end + 1;
  }
  return ops;
}

}  // namespace trireme
