// What the split patterns need to know of a character: its Unicode class and its length in UTF-8.
// The classes are those of tiktoken's regular expressions (char_class_ranges.inc, generated).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace trireme {

enum class CharClass : uint8_t {
  Other,   // none of the below; also any byte that is not valid UTF-8
  Upper,   // \p{Lu} \p{Lt}
  Lower,   // \p{Ll}
  Letter,  // \p{Lm} \p{Lo}
  Mark,    // \p{M}
  Number,  // \p{N}
  Space,   // \s: Unicode's White_Space
};

// One character of a text: its class, its length in bytes, 1 for an invalid byte.
struct Char {
  CharClass kind;
  int bytes;
};

class CharClasses {
 public:
  CharClasses();

  // The character at `at` < `end`. UTF-8 is read strictly: no overlong forms, surrogates or code points past
  // U+10FFFF, and a sequence that `end` cuts is invalid.
  Char at(const char* at, const char* end) const {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x80) return {ascii_[byte], 1};
    return multi_byte(at, end);
  }

 private:
  Char multi_byte(const char* at, const char* end) const;

  static constexpr int kBlock = 256;  // code points
  std::array<CharClass, 128> ascii_;
  std::vector<uint16_t> block_of_;  // code point / kBlock -> block
  std::vector<CharClass> blocks_;   // kBlock classes each
};

}  // namespace trireme
