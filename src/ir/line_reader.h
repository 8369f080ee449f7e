// Reads an IR text line by line and a line word by word, with the line number in every complaint.
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
  std::string_view line() const { return line_; }
  std::string_view peek_word() const;  // the next word of the line without taking it
  std::string_view word();             // words are cut at spaces; UserError when none is left
  std::string_view until(char stop);   // up to `stop`, which is taken too; UserError when it is missing
  std::string_view rest();             // what is left of the line
  bool at_line_end() const;
  std::string_view value_of(std::string_view key);  // a word "key=value"
  int64_t integer_of(std::string_view key);
  int64_t integer(std::string_view text) const;
  std::vector<int64_t> integers(std::string_view comma_separated) const;
  TensorType type(std::string_view text) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_spaces();

  std::string_view text_;
  std::string_view line_;  // what is left of it
  int64_t number_ = 0;
};

}  // namespace trireme
