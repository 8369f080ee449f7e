// llm.c's and modded-nanogpt's shard: 256 int32 of header, then u16 ids; the Llama 3 variant holds u32 ids.
// Documents are not indexed: each starts with the end-of-text id.
#include "base/error.h"
#include "io/data/shard_layout.h"

namespace trireme {
namespace {

constexpr int64_t kHeaderBytes = 1024;
constexpr int32_t kGpt2Magic = 20240520, kGpt2Version = 1;
constexpr int32_t kLlamaMagic = 20240801, kLlamaVersion = 7;

}  // namespace

bool looks_like_llm_c(Bytes file) {
  if (file.size() < 4) return false;
  const auto magic = load_le<int32_t>(file.data());
  return magic == kGpt2Magic || magic == kLlamaMagic;
}

ShardLayout parse_llm_c(const std::string& name, Bytes file) {
  const auto size = static_cast<int64_t>(file.size());
  if (size < kHeaderBytes) {
    fail_user("{} is truncated: an llm.c shard begins with {} bytes of header, the file has {}", name,
              kHeaderBytes, size);
  }
  const auto magic = load_le<int32_t>(file.data());
  const auto version = load_le<int32_t>(file.data() + 4);
  const auto count = load_le<int32_t>(file.data() + 8);
  ShardLayout layout;
  if (magic == kGpt2Magic) {
    layout.format = ShardFormat::llm_c;
    layout.type = TokenType::u16;
  } else if (magic == kLlamaMagic) {
    layout.format = ShardFormat::llm_c_llama;
    layout.type = TokenType::u32;
  } else {
    fail_user("{} is no llm.c token shard: its magic number is {}, not {} or {}", name, magic, kGpt2Magic,
              kLlamaMagic);
  }
  const int32_t wanted = magic == kGpt2Magic ? kGpt2Version : kLlamaVersion;
  if (version != wanted) {
    fail_user("{}: version {} of the llm.c format with magic {} is unknown; version {} is read", name,
              version, magic, wanted);
  }
  if (count < 0) fail_user("{}: the header's token count is negative ({})", name, count);
  const int64_t expected = kHeaderBytes + count * size_of(layout.type);
  if (size != expected) {
    fail_user("{} is {}: {} tokens of {} make {} bytes with the header, the file has {}", name,
              size < expected ? "truncated" : "too long", count, name_of(layout.type), expected, size);
  }
  layout.tokens = file.data() + kHeaderBytes;
  layout.count = count;
  return layout;
}

}  // namespace trireme
