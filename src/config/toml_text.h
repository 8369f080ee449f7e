// A value as TOML writes it. Numbers have the fewest digits that read back as the same bits.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "config/data.h"
#include "config/field.h"

namespace trireme {

std::string toml_text(bool value);
std::string toml_text(int64_t value);
std::string toml_text(double value);
std::string toml_text(const std::string& value);
std::string toml_text(const std::vector<std::string>& value);
std::string toml_text(const std::vector<int64_t>& value);
std::string toml_text(const std::vector<DataSet>& value);  // paths alone when it is one set of weight 1
template <class E>
requires std::is_enum_v<E> std::string toml_text(E value) {
  return toml_text(std::string(name_of_value(value)));
}

}  // namespace trireme
