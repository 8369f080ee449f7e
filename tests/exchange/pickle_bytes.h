// Pickles written by hand, so that tests can say what no writer would.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trireme::test {

inline std::string little_endian(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

// Each makes one value.
inline std::string text(const std::string& value) { return "X" + little_endian(value.size(), 4) + value; }
inline std::string integer(int64_t value) {
  return "\x8a\x08" + little_endian(static_cast<uint64_t>(value), 8);
}
inline std::string tuple(const std::vector<std::string>& items) { return "(" + joined(items) + "t"; }
inline std::string list(const std::vector<std::string>& items) { return "](" + joined(items) + "e"; }
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string all = "}(";
  for (const auto& [key, value] : items) all += key + value;
  return all + "u";
}
inline std::string record(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string all = "}(";
  for (const auto& [name, value] : fields) all += text(name) + value;
  return all + "u";
}
inline std::string call(const std::string& function, const std::vector<std::string>& args) {
  return function + tuple(args) + "R";
}
inline std::string object(const std::string& type, const std::string& state) {
  return type + ")\x81" + state + "b";
}
inline const std::string kNone = "N";

inline std::string pickle(const std::string& value) { return "\x80\x02" + value + "."; }

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace trireme::test
