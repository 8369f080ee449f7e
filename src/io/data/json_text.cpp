// An event handler that keeps one string and builds nothing else, so that lines with much beside the text
// cost little, and nesting costs no stack.
#include "io/data/json_text.h"

#include <nlohmann/json.hpp>

namespace trireme {
namespace {

class TextField final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TextField(const std::string& key, std::string& text) : wanted_(key), text_(text) {}

  std::string reason() const {
    if (!error_.empty()) return error_;
    if (!is_object_) return "it is not a JSON object";
    if (!seen_) return "it has no key '" + wanted_ + "'";
    return is_string_ ? "" : "the value of '" + wanted_ + "' is not a string";
  }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool string(string_t& s) override {
    if (here()) {
      text_ = std::move(s);
      is_string_ = true;
      under_key_ = false;
    }
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      under_key_ = name == wanted_;
      seen_ = seen_ || under_key_;
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object_ = true;
    return open();
  }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  // The library's message is long and quotes the input, which may be large or no text at all.
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    std::string what = e.what();
    const size_t from = what.find(": ", what.find(']'));
    what = from == std::string::npos ? what : what.substr(from + 2);
    const size_t quoted = what.find("; last read");
    const size_t expected = what.find("; expected");
    what = what.substr(0, std::min({quoted, expected, size_t{120}}));
    for (char& c : what) {
      if (c < ' ' || c > '~') c = '?';
    }
    error_ = "byte " + std::to_string(position) + ": " + what;
    return false;
  }

 private:
  bool here() const { return depth_ == 1 && under_key_; }
  bool value() {
    if (here()) is_string_ = under_key_ = false;
    return true;
  }
  bool open() {
    value();
    ++depth_;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  const std::string& wanted_;
  std::string& text_;
  std::string error_;
  int64_t depth_ = 0;
  bool is_object_ = false, under_key_ = false, seen_ = false, is_string_ = false;
};

}  // namespace

std::string extract_text(std::string_view line, const std::string& key, std::string& text) {
  text.clear();
  TextField field(key, text);
  nlohmann::json::sax_parse(line, &field);
  return field.reason();
}

}  // namespace trireme
