// GPT-2's writing of bytes as printable characters, which tokenizer.json, vocab.json and merges.txt use for
// tokens: a printable Latin-1 byte stands for itself, the other 68 become U+0100 and up.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace trireme {

// The 256 bytes in GPT-2's order: printable ones first, then the others, each by value.
std::array<unsigned char, 256> gpt2_byte_order();

class ByteText {
 public:
  ByteText();

  // Bytes -> UTF-8 text.
  std::string to_text(std::string_view bytes) const;

  // UTF-8 text -> bytes; nothing if a character stands for no byte.
  std::optional<std::string> to_bytes(std::string_view text) const;

 private:
  std::array<std::string, 256> text_of_;
  std::array<int, 0x144> byte_of_;  // by code point; -1: none
};

}  // namespace trireme
