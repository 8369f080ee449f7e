// The byte <-> character map of GPT-2 (encoder.py: bytes_to_unicode).
#include "io/tokenizer/byte_text.h"

namespace trireme {
namespace {

bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

}  // namespace

std::array<unsigned char, 256> gpt2_byte_order() {
  std::array<unsigned char, 256> order;
  size_t next = 0;
  for (const bool printable : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (stands_for_itself(byte) == printable) order[next++] = static_cast<unsigned char>(byte);
    }
  }
  return order;
}

ByteText::ByteText() {
  byte_of_.fill(-1);
  unsigned other = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const unsigned code = stands_for_itself(byte) ? static_cast<unsigned>(byte) : other++;
    byte_of_[code] = byte;
    std::string& text = text_of_[static_cast<size_t>(byte)];
    if (code < 0x80) {
      text = {static_cast<char>(code)};
    } else {
      text = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
    }
  }
}

std::string ByteText::to_text(std::string_view bytes) const {
  std::string text;
  for (const char c : bytes) text += text_of_[static_cast<unsigned char>(c)];
  return text;
}

std::optional<std::string> ByteText::to_bytes(std::string_view text) const {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = static_cast<unsigned char>(text[i]);
    if (code >= 0x80) {
      if (code < 0xc2 || code >= 0xe0 || i + 1 >= text.size()) return std::nullopt;
      code = (code & 0x1f) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
    }
    if (code >= byte_of_.size() || byte_of_[code] < 0) return std::nullopt;
    bytes += static_cast<char>(byte_of_[code]);
  }
  return bytes;
}

}  // namespace trireme
