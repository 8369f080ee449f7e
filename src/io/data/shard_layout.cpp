// What all formats share: widths and names, finding a document, reading ids. The parsers have a file each.
#include "io/data/shard_layout.h"

#include <algorithm>
#include <type_traits>

#include "base/error.h"

namespace trireme {

int64_t size_of(TokenType type) {
  switch (type) {
    case TokenType::u8:
    case TokenType::i8:
      return 1;
    case TokenType::i16:
    case TokenType::u16:
      return 2;
    case TokenType::i32:
    case TokenType::u32:
      return 4;
    case TokenType::i64:
      return 8;
  }
  CHECK(false, "token type {}", static_cast<int>(type));
  return 0;
}

std::string_view name_of(TokenType type) {
  constexpr std::string_view kNames[] = {"u8", "i8", "i16", "i32", "i64", "u16", "u32"};
  return kNames[static_cast<size_t>(type)];
}

std::string_view name_of(ShardFormat format) {
  constexpr std::string_view kNames[] = {"llm.c", "llm.c (Llama 3)", "Megatron", "datatrove", "plain"};
  return kNames[static_cast<size_t>(format)];
}

int64_t prescribed_delimiter(ShardFormat format) {
  if (format == ShardFormat::llm_c) return 50256;
  return format == ShardFormat::llm_c_llama ? 128000 : -1;
}

bool begins_with_delimiter(ShardFormat format) { return format != ShardFormat::plain; }

ShardLayout parse_plain(const std::string& name, Bytes file, TokenType type) {
  const auto size = static_cast<int64_t>(file.size());
  if (size % size_of(type) != 0) {
    fail_user("{} is truncated: its {} bytes are no multiple of the {} bytes of a {} id", name, size,
              size_of(type), name_of(type));
  }
  ShardLayout layout;
  layout.type = type;
  layout.tokens = file.data();
  layout.count = size / size_of(type);
  return layout;
}

int64_t document_end(const ShardLayout& layout, int64_t d) {
  if (layout.format == ShardFormat::datatrove) return load_le<int64_t>(layout.document_ends + 8 * d);
  const auto next = load_le<int64_t>(layout.document_starts + 8 * (d + 1));
  if (next == layout.sequences) return layout.count;
  return load_le<int64_t>(layout.sequence_offsets + 8 * next) / size_of(layout.type);
}

int64_t document_at(const ShardLayout& layout, int64_t position) {
  int64_t low = 0, high = layout.documents;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (document_end(layout, middle) > position) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

namespace {

// Sign extension makes a negative id the largest of all.
template <class T>
uint64_t read_as(const std::byte* from, int64_t count, int32_t* out) {
  using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  Wide largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T id = load_le<T>(from + i * static_cast<int64_t>(sizeof(T)));
    largest = std::max(largest, static_cast<Wide>(id));
    out[i] = static_cast<int32_t>(id);
  }
  return largest;
}

template <class F>
auto with_type(TokenType type, F f) {
  switch (type) {
    case TokenType::u8:
      return f(uint8_t{});
    case TokenType::i8:
      return f(int8_t{});
    case TokenType::i16:
      return f(int16_t{});
    case TokenType::i32:
      return f(int32_t{});
    case TokenType::i64:
      return f(int64_t{});
    case TokenType::u16:
      return f(uint16_t{});
    case TokenType::u32:
      break;
  }
  return f(uint32_t{});
}

}  // namespace

uint64_t read_tokens(const ShardLayout& layout, int64_t first, int64_t count, int32_t* out) {
  CHECK(first >= 0 && count >= 0 && first <= layout.count - count, "tokens {} + {} of {}", first, count,
        layout.count);
  const std::byte* from = layout.tokens + first * size_of(layout.type);
  return with_type(layout.type, [&](auto id) { return read_as<decltype(id)>(from, count, out); });
}

int64_t token_at(const ShardLayout& layout, int64_t position) {
  CHECK(position >= 0 && position < layout.count, "token {} of {}", position, layout.count);
  const std::byte* from = layout.tokens + position * size_of(layout.type);
  return with_type(layout.type, [&](auto id) { return static_cast<int64_t>(load_le<decltype(id)>(from)); });
}

}  // namespace trireme
