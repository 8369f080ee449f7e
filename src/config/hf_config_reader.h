// A config.json under reading: which keys were looked at, and messages that name file, key and value. Known
// to the hf_config files alone, since nlohmann's types stop there.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace trireme {

class HfReader {
 public:
  using Json = nlohmann::json;

  HfReader(const Json& object, std::string name, std::string prefix = "")
      : object_(object), name_(std::move(name)), prefix_(std::move(prefix)) {}

  // The value, or nullptr when the key is absent or null.
  const Json* find(const std::string& key);

  // UserError: file, key, value and what is wrong.
  [[noreturn]] void refuse(const std::string& key, const std::string& wrong) const;

  // Written down as null, for the keys where that says something.
  bool is_null(const std::string& key) const;

  // Values of a type, nothing when absent or null; UserError for another type.
  std::optional<int64_t> integer(const std::string& key);
  int64_t need_integer(const std::string& key);
  std::optional<double> number(const std::string& key);
  std::optional<bool> boolean(const std::string& key);
  std::optional<std::string> word(const std::string& key);

  // Absent and null are as good as `only`.
  void only_boolean(const std::string& key, bool only);
  void only_number(const std::string& key, double only);
  void only_word(const std::string& key, const std::string& only);

  HfReader inner(const std::string& key, const Json& value) const;

  // Keys that say nothing about the function computed in training.
  void pass_over_what_does_not_matter();
  // UserError for a key that nobody looked at.
  void refuse_the_rest() const;

 private:
  const Json& object_;
  std::string name_, prefix_;
  std::set<std::string> seen_;
};

}  // namespace trireme
