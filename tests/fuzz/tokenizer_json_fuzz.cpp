// Any bytes given as a tokenizer file: it is refused with a UserError, or it loads, and then encodes and
// decodes to the same bytes (unless it adds a space in front).
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/tokenizer/formats.h"
#include "io/tokenizer/tokenizer.h"

namespace {

trireme::Tokenizer parse(std::string_view text) {
  if (text.starts_with('{')) return trireme::parse_hugging_face(text, "fuzz");
  if (text.starts_with('#')) {
    const size_t cut = text.find("{");
    if (cut == std::string_view::npos) throw trireme::UserError("no vocabulary");
    return trireme::parse_gpt2(text.substr(cut), text.substr(0, cut), "fuzz");
  }
  trireme::LoadOptions options;
  options.pattern = "o200k";
  return trireme::parse_tiktoken(text, "fuzz", options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const trireme::Tokenizer tokenizer = parse(text);
    const std::string_view sample = text.substr(0, 2000);
    trireme::Encoder encoder(tokenizer);
    std::vector<uint32_t> ids;
    encoder.encode(sample, ids);
    const std::string back = trireme::decode(tokenizer, ids);
    if (!tokenizer.add_prefix_space && back != sample) __builtin_trap();
    encoder.encode_with_specials(sample, ids);
  } catch (const trireme::UserError&) {
  }
  return 0;
}
