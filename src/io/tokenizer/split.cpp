// The known split patterns as code. Beside each branch stands the alternative of the expression it is; where
// the expression would backtrack, the comment says what comes out of it.
#include "io/tokenizer/split.h"

#include <cstring>

namespace trireme {
namespace {

using enum CharClass;

bool is_letter(CharClass c) { return c == Upper || c == Lower || c == Letter; }
bool is_word(CharClass c) { return is_letter(c) || c == Mark; }  // o200k's words
bool is_symbol(CharClass c) { return c == Other || c == Mark; }  // [^\s\p{L}\p{N}]
bool is_line_end(char c) { return c == '\r' || c == '\n'; }

// The end of the run of characters that `accept` takes.
template <class Accept>
const char* run(const CharClasses& classes, const char* at, const char* end, Accept accept) {
  while (at < end) {
    const Char c = classes.at(at, end);
    if (!accept(c.kind)) break;
    at += c.bytes;
  }
  return at;
}

// 's|'t|'re|'ve|'m|'ll|'d, where `at` < `end` is the quote: the length in bytes, 0 when it is none of them.
int contraction(const char* at, const char* end) {
  if (end - at < 2) return 0;
  switch (at[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return end - at >= 3 && at[2] == 'e' ? 3 : 0;
    case 'l':
      return end - at >= 3 && at[2] == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

// The same under (?i:...). Unicode folds the long s (U+017F) to s, so that counts as one.
int contraction_any_case(const char* at, const char* end) {
  if (end - at >= 3 && std::memcmp(at + 1, "\xc5\xbf", 2) == 0) return 3;
  char lower[3] = {'\'', 0, 0};
  const int64_t length = end - at < 3 ? end - at : 3;
  for (int64_t i = 1; i < length; ++i) {
    lower[i] = at[i] >= 'A' && at[i] <= 'Z' ? static_cast<char>(at[i] + 32) : at[i];
  }
  return contraction(lower, lower + length);
}

}  // namespace

Splitter::Splitter(const SplitPattern& pattern)
    : piece_end_(pattern.kind == SplitKind::Gpt2    ? &Splitter::gpt2
                 : pattern.kind == SplitKind::O200k ? &Splitter::o200k
                                                    : &Splitter::llama3),
      max_digits_(pattern.max_digits),
      end_spaces_whole_(pattern.kind == SplitKind::Cl100k) {}

const char* Splitter::gpt2(const char* at, const char* end) const {
  if (*at == '\'') {
    if (const int length = contraction(at, end)) return at + length;
  }
  const char* body = at + (*at == ' ');
  if (body < end) {
    const Char first = classes_.at(body, end);
    const char* rest = body + first.bytes;
    if (is_letter(first.kind)) return run(classes_, rest, end, is_letter);  // ` ?\p{L}+`
    if (first.kind == Number)
      return run(classes_, rest, end, [](auto c) { return c == Number; });  // ` ?\p{N}+`
    if (is_symbol(first.kind)) return run(classes_, rest, end, is_symbol);  // ` ?[^\s\p{L}\p{N}]+`
  }
  return spaces(at, end);
}

const char* Splitter::llama3(const char* at, const char* end) const {
  if (*at == '\'') {
    if (const int length = contraction_any_case(at, end)) return at + length;
  }
  const Char first = classes_.at(at, end);
  const char* rest = at + first.bytes;
  if (is_letter(first.kind)) return run(classes_, rest, end, is_letter);
  if (first.kind == Number) return digits(at, end);
  if (!is_line_end(*at) && rest < end) {  // `[^\r\n\p{L}\p{N}]?\p{L}+`
    const Char second = classes_.at(rest, end);
    if (is_letter(second.kind)) return run(classes_, rest + second.bytes, end, is_letter);
  }
  const char* body = at + (*at == ' ');  // ` ?[^\s\p{L}\p{N}]+[\r\n]*`
  if (body < end && is_symbol(classes_.at(body, end).kind)) {
    const char* tail = run(classes_, body, end, is_symbol);
    while (tail < end && is_line_end(*tail)) ++tail;
    return tail;
  }
  return lines(at, end);
}

const char* Splitter::o200k(const char* at, const char* end) const {
  if (const char* word = cased_word(at, end)) {
    const int length = word < end && *word == '\'' ? contraction_any_case(word, end) : 0;
    return word + length;
  }
  if (classes_.at(at, end).kind == Number) return digits(at, end);
  const char* body = at + (*at == ' ');  // ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
  if (body < end && is_symbol(classes_.at(body, end).kind)) {
    const char* tail = run(classes_, body, end, is_symbol);
    while (tail < end && (is_line_end(*tail) || *tail == '/')) ++tail;
    return tail;
  }
  return lines(at, end);
}

// With A = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and C = [\p{Ll}\p{Lm}\p{Lo}\p{M}], the two alternatives
//   [^\r\n\p{L}\p{N}]?A*C+    and    [^\r\n\p{L}\p{N}]?A+C*
// without their contraction; nullptr when neither matches. A* first takes the whole run of A. If a lower-case
// letter follows, C+ goes on from there. Else A* gives back until C+ has a character, so the first
// alternative ends after the run's last character of C. A run with none is all upper case, which the second
// takes whole.
const char* Splitter::cased_word(const char* at, const char* end) const {
  const Char first = classes_.at(at, end);
  if (first.kind == Number || is_line_end(*at)) return nullptr;
  const char* body = is_letter(first.kind) ? at : at + first.bytes;
  const char* last_of_c = nullptr;  // after the run's last character of C
  const char* stop = body;
  while (stop < end) {
    const Char c = classes_.at(stop, end);
    if (c.kind == Lower) {
      return run(classes_, stop, end, [](auto k) { return k == Lower || k == Letter || k == Mark; });
    }
    if (!is_word(c.kind)) break;
    stop += c.bytes;
    if (c.kind != Upper) last_of_c = stop;
  }
  if (last_of_c != nullptr) return last_of_c;
  if (first.kind == Mark) return body;  // gives back the prefix, which is itself of A and C: the mark alone
  return stop > body ? stop : nullptr;
}

// \p{N}{1,max}
const char* Splitter::digits(const char* at, const char* end) const {
  for (int count = 0; count < max_digits_ && at < end; ++count) {
    const Char c = classes_.at(at, end);
    if (c.kind != Number) break;
    at += c.bytes;
  }
  return at;
}

const char* Splitter::space_run(const char* at, const char* end) const {
  return run(classes_, at, end, [](auto c) { return c == Space; });
}

// `\s+(?!\S)|\s+`: a run at the end whole, else without its last character, which a word may take as its
// prefix; a run of one character is a piece.
const char* Splitter::spaces(const char* at, const char* end) const {
  const char* stop = space_run(at, end);
  if (stop == end) return stop;
  const char* last = stop - 1;
  while (last > at && (*last & 0xc0) == 0x80) --last;
  return last > at ? last : stop;
}

// `\s*[\r\n]+` before the above: a run up to its last line end.
const char* Splitter::lines(const char* at, const char* end) const {
  const char* stop = space_run(at, end);
  if (end_spaces_whole_ && stop == end) return stop;
  for (const char* last = stop; last > at; --last) {
    if (is_line_end(last[-1])) return last;
  }
  return spaces(at, end);
}

}  // namespace trireme
