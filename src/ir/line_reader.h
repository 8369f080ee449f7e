// Reads an IR text line by line and a line word by word, with the line number in every complaint. Nothing in
// a text can make it read past the end or take a number that its type does not hold.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace trireme {

class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  bool next_line();  // to the next line that is not blank; false at the end
  int64_t line_number() const { return number_; }

  // What is left of the line, from its front. All but the first three fail when it is not as they say.
  bool at_line_end() const { return line_.empty(); }
  bool next_is(char c) const { return !line_.empty() && line_.front() == c; }
  bool take(char c);                        // whether `c` is next; then it is taken
  std::string_view word();                  // words are cut at spaces
  std::string_view until(char stop);        // up to `stop`, which is taken too
  std::string_view before(char a, char b);  // up to the first of both, which is left
  std::string quoted();                     // "text" with \" and \\ inside
  std::string_view rest();                  // all of it
  void finish_line() const;                 // nothing is left
  void finish_text();                       // nothing is left of the line and no line follows

  std::string_view value_of(std::string_view key);  // a word "key=value"
  int64_t integer_of(std::string_view key);
  int32_t index_of(std::string_view key);  // -1: none

  // Parts of a word.
  int64_t integer(std::string_view text) const;
  int32_t index(std::string_view text) const;  // 0 or more
  std::vector<int64_t> integers(std::string_view comma_separated) const;
  std::vector<std::string_view> list(std::string_view comma_separated) const;  // no entry is empty
  TensorType type(std::string_view text) const;
  std::string_view name(std::string_view text) const;  // of a value: not "_", none of the IR's own marks

  [[noreturn]] void fail(const std::string& what) const { fail_at(number_, what); }
  [[noreturn]] void fail_at(int64_t line, const std::string& what) const;

 private:
  void skip_spaces();

  std::string_view text_;
  std::string_view line_;  // what is left of it
  int64_t number_ = 0;
};

// The text that quoted() reads back.
std::string in_quotes(std::string_view text);

}  // namespace trireme
