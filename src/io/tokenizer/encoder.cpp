// Encoder: split, look the piece up among those met before, else merge its bytes. Pieces of up to 16 bytes
// are remembered, in a table where a newer piece takes an older one's place.
#include <algorithm>
#include <cstring>

#include "io/tokenizer/bpe.h"
#include "io/tokenizer/byte_hash.h"
#include "io/tokenizer/regex_split.h"
#include "io/tokenizer/split.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

constexpr size_t kMaxKey = 16;                  // bytes
constexpr size_t kCacheSize = size_t{1} << 14;  // entries of 64 bytes

// One remembered piece and its ids; one cache line.
struct alignas(64) CachedPiece {
  static constexpr size_t kMaxIds = 11;
  uint64_t low = 0, high = 0;  // the piece's bytes, zeros after them
  uint8_t bytes = 0;           // 0: empty entry
  uint8_t count = 0;
  uint32_t ids[kMaxIds];
};

struct Key {
  uint64_t low, high;
};

// The bytes of a piece of 1 to 16 bytes as two words. `readable` bytes may be read from its start.
Key key_of(std::string_view piece, size_t readable) {
  uint64_t words[2] = {0, 0};
  if (readable < kMaxKey) {
    std::memcpy(words, piece.data(), piece.size());
    return {words[0], words[1]};
  }
  std::memcpy(words, piece.data(), kMaxKey);
  const auto keep = [](size_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; };
  const size_t size = piece.size();
  return {words[0] & keep(size), size > 8 ? words[1] & keep(size - 8) : 0};
}

}  // namespace

struct Encoder::State {
  const Tokenizer& tokenizer;
  std::unique_ptr<Splitter> splitter;    // of a known pattern
  std::unique_ptr<RegexSplitter> regex;  // of another
  std::vector<CachedPiece> cache = std::vector<CachedPiece>(kCacheSize);
  std::array<bool, 256> special_start{};           // a special token begins with this byte
  std::vector<const SpecialToken*> longest_first;  // specials

  explicit State(const Tokenizer& t) : tokenizer(t) {
    if (t.pattern.kind == SplitKind::Regex) {
      regex = std::make_unique<RegexSplitter>(t.pattern.regex);
    } else {
      splitter = std::make_unique<Splitter>(t.pattern);
    }
    for (const SpecialToken& special : t.specials) {
      if (special.content.empty()) continue;
      special_start[static_cast<unsigned char>(special.content[0])] = true;
      longest_first.push_back(&special);
    }
    std::stable_sort(longest_first.begin(), longest_first.end(),
                     [](auto* a, auto* b) { return a->content.size() > b->content.size(); });
  }

  void piece_ids(std::string_view piece, std::vector<uint32_t>& out) const {
    if (tokenizer.ignore_merges) {
      const uint32_t id = tokenizer.by_bytes.find(tokenizer.tokens, piece);
      if (id != TokenTable::kNone) {
        out.push_back(id);
        return;
      }
    }
    merge_piece(tokenizer, piece, out);
  }

  void encode_piece(std::string_view piece, size_t readable, std::vector<uint32_t>& out) {
    if (piece.size() > kMaxKey) {
      piece_ids(piece, out);
      return;
    }
    const Key key = key_of(piece, readable);
    const uint64_t hash =
        mix_words(key.low ^ 0x9e3779b97f4a7c15u, key.high ^ (0xd6e8feb86659fd93u + piece.size()));
    CachedPiece& entry = cache[hash % kCacheSize];
    if (entry.low == key.low && entry.high == key.high && entry.bytes == piece.size()) {
      out.insert(out.end(), entry.ids, entry.ids + entry.count);
      return;
    }
    const size_t before = out.size();
    piece_ids(piece, out);
    const size_t count = out.size() - before;
    if (count > CachedPiece::kMaxIds) return;
    entry.low = key.low;
    entry.high = key.high;
    entry.bytes = static_cast<uint8_t>(piece.size());
    entry.count = static_cast<uint8_t>(count);
    std::copy_n(out.begin() + static_cast<int64_t>(before), count, entry.ids);
  }

  void encode_text(std::string_view text, std::vector<uint32_t>& out) {
    std::string with_space;
    if (tokenizer.add_prefix_space && !text.empty() && text[0] != ' ') {
      with_space.reserve(text.size() + 1);
      with_space.append(" ").append(text);
      text = with_space;
    }
    const char* end = text.data() + text.size();
    const auto visit = [&](std::string_view piece) {
      encode_piece(piece, static_cast<size_t>(end - piece.data()), out);
    };
    if (splitter) {
      splitter->split(text, visit);
    } else {
      regex->split(text, visit);
    }
  }

  // The longest special token that `text` begins with, or nullptr.
  const SpecialToken* special_at(std::string_view text) const {
    if (!special_start[static_cast<unsigned char>(text[0])]) return nullptr;
    for (const SpecialToken* special : longest_first) {
      if (text.starts_with(special->content)) return special;
    }
    return nullptr;
  }
};

Encoder::Encoder(const Tokenizer& tokenizer) : state_(std::make_unique<State>(tokenizer)) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

void Encoder::encode(std::string_view text, std::vector<uint32_t>& out) { state_->encode_text(text, out); }

void Encoder::encode_with_specials(std::string_view text, std::vector<uint32_t>& out) {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const SpecialToken* special = state_->special_at(text.substr(at));
    if (special == nullptr) {
      ++at;
      continue;
    }
    if (at > done) state_->encode_text(text.substr(done, at - done), out);
    out.push_back(special->id);
    at += special->content.size();
    done = at;
  }
  if (done < text.size()) state_->encode_text(text.substr(done), out);
}

}  // namespace trireme
