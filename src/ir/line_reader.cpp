// Words, numbers and types out of a line.
#include "ir/line_reader.h"

#include <charconv>

#include "base/error.h"

namespace trireme {

void LineReader::fail(const std::string& what) const { fail_user("IR text line {}: {}", number_, what); }

void LineReader::skip_spaces() {
  while (!line_.empty() && line_.front() == ' ') line_.remove_prefix(1);
}

bool LineReader::next_line() {
  do {
    if (text_.empty()) return false;
    const size_t end = text_.find('\n');
    line_ = text_.substr(0, end);
    text_ = end == std::string_view::npos ? std::string_view() : text_.substr(end + 1);
    ++number_;
    skip_spaces();
  } while (line_.empty());
  return true;
}

std::string_view LineReader::peek_word() const { return line_.substr(0, line_.find(' ')); }

std::string_view LineReader::word() {
  const std::string_view taken = peek_word();
  if (taken.empty()) fail("a word is missing");
  line_.remove_prefix(taken.size());
  skip_spaces();
  return taken;
}

std::string_view LineReader::until(char stop) {
  const size_t end = line_.find(stop);
  if (end == std::string_view::npos) fail(fmt::format("'{}' is missing", stop));
  const std::string_view taken = line_.substr(0, end);
  line_.remove_prefix(end + 1);
  skip_spaces();
  return taken;
}

std::string_view LineReader::rest() { return std::exchange(line_, {}); }

bool LineReader::at_line_end() const { return line_.empty(); }

std::string_view LineReader::value_of(std::string_view key) {
  const std::string_view pair = word();
  if (!pair.starts_with(key) || pair.substr(key.size(), 1) != "=")
    fail(fmt::format("{}=... is missing", key));
  return pair.substr(key.size() + 1);
}

int64_t LineReader::integer_of(std::string_view key) { return integer(value_of(key)); }

int64_t LineReader::integer(std::string_view text) const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(fmt::format("'{}' is no integer", text));
  return value;
}

std::vector<int64_t> LineReader::integers(std::string_view list) const {
  std::vector<int64_t> values;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    values.push_back(integer(list.substr(0, comma)));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return values;
}

TensorType LineReader::type(std::string_view text) const {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') fail(fmt::format("'{}' is no type", text));
  const auto dtype = dtype_named(text.substr(0, open));
  if (!dtype) fail(fmt::format("'{}' is no dtype", text.substr(0, open)));
  return {*dtype, integers(text.substr(open + 1, text.size() - open - 2))};
}

}  // namespace trireme
