// Words, numbers and types out of a line.
#include "ir/line_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/parse_text.h"

namespace trireme {

void LineReader::fail_at(int64_t line, const std::string& what) const {
  fail_user("IR text line {}: {}", line, what);
}

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

// --- the front of the line --------------------------------------------------------------------------------

bool LineReader::take(char c) {
  if (!next_is(c)) return false;
  line_.remove_prefix(1);
  skip_spaces();
  return true;
}

std::string_view LineReader::word() {
  const std::string_view taken = line_.substr(0, line_.find(' '));
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

std::string_view LineReader::before(char a, char b) {
  const size_t end = std::min(line_.find(a), line_.find(b));
  if (end == std::string_view::npos) fail(fmt::format("'{}' is missing", b));
  const std::string_view taken = line_.substr(0, end);
  line_.remove_prefix(end);
  return taken;
}

std::string LineReader::quoted() {
  if (!next_is('"')) fail("a quoted text is missing");
  std::string text;
  for (size_t i = 1; i < line_.size(); ++i) {
    if (line_[i] == '"') {
      line_.remove_prefix(i + 1);
      skip_spaces();
      return text;
    }
    if (line_[i] == '\\' && i + 1 < line_.size()) ++i;
    text += line_[i];
  }
  fail("a quote is not closed");
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string_view LineReader::rest() { return std::exchange(line_, {}); }

void LineReader::finish_line() const {
  if (!line_.empty()) fail(fmt::format("'{}' is too much", line_));
}

void LineReader::finish_text() {
  finish_line();
  if (next_line()) fail("text after the end");
}

// --- keys, numbers, types ---------------------------------------------------------------------------------

std::string_view LineReader::value_of(std::string_view key) {
  const std::string_view pair = word();
  if (!pair.starts_with(key) || pair.substr(key.size(), 1) != "=")
    fail(fmt::format("{}=... is missing", key));
  return pair.substr(key.size() + 1);
}

int64_t LineReader::integer_of(std::string_view key) { return integer(value_of(key)); }

int32_t LineReader::index_of(std::string_view key) {
  const std::string_view text = value_of(key);
  return text == "-1" ? -1 : index(text);
}

int64_t LineReader::integer(std::string_view text) const {
  const auto value = parse_number<int64_t>(text);
  if (!value) fail(fmt::format("'{}' is no integer", text));
  return *value;
}

int32_t LineReader::index(std::string_view text) const {
  const int64_t value = integer(text);
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) fail(fmt::format("'{}' is no index", text));
  return static_cast<int32_t>(value);
}

std::vector<std::string_view> LineReader::list(std::string_view text) const {
  std::vector<std::string_view> entries;
  for (bool more = !text.empty(); more;) {
    const size_t comma = text.find(',');
    std::string_view entry = text.substr(0, comma);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    if (entry.empty()) fail("an entry of a list is empty");
    entries.push_back(entry);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return entries;
}

std::vector<int64_t> LineReader::integers(std::string_view text) const {
  std::vector<int64_t> values;
  for (const std::string_view entry : list(text)) values.push_back(integer(entry));
  return values;
}

TensorType LineReader::type(std::string_view text) const {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') fail(fmt::format("'{}' is no type", text));
  const auto dtype = dtype_named(text.substr(0, open));
  if (!dtype) fail(fmt::format("'{}' is no dtype", text.substr(0, open)));
  TensorType type{*dtype, integers(text.substr(open + 1, text.size() - open - 2))};
  int64_t bytes = size_of(type.dtype);
  for (const int64_t extent : type.shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      fail(fmt::format("'{}' has an extent that no tensor has", text));
  return type;
}

std::string_view LineReader::name(std::string_view text) const {
  if (text.empty() || text == "_" || text.find_first_of(" ,:=(){}\"") != std::string_view::npos)
    fail(fmt::format("'{}' is no name", text));
  return text;
}

}  // namespace trireme
