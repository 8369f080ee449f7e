// Cuts text into pieces by any regular expression, with PCRE2 and its compiler to machine code. For patterns
// that split.h does not know.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace trireme {

class RegexSplitter {
 public:
  // UserError: PCRE2 does not take the expression.
  explicit RegexSplitter(const std::string& regex);
  ~RegexSplitter();

  // Calls `visit` for each match and for each stretch between matches; together they are `text`. Bytes that
  // are not valid UTF-8 match nothing, so they are stretches between matches. UserError: the match limit was
  // hit.
  void split(std::string_view text, const std::function<void(std::string_view)>& visit);

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace trireme
