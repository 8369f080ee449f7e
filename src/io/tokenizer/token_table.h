// The map from a token's bytes to its id. It keeps ids only; the bytes stay in the tokenizer.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/byte_hash.h"

namespace trireme {

class TokenTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Room for `count` tokens at half load. Drops what was there.
  void reset(size_t count) { slots_.assign(std::bit_ceil(count * 2 + 2), Slot{}); }

  // Adds tokens[id]. Returns the id that has these bytes already, else kNone.
  uint32_t insert(const std::vector<std::string>& tokens, uint32_t id) {
    const uint64_t hash = hash_bytes(tokens[id]);
    Slot& slot = slots_[place_of(tokens, tokens[id], hash)];
    if (slot.id != kNone) return slot.id;
    slot = {static_cast<uint32_t>(hash >> 32), id};
    return kNone;
  }

  // kNone when no token has these bytes. `tokens` are the ones that were inserted.
  uint32_t find(const std::vector<std::string>& tokens, std::string_view bytes) const {
    return slots_[place_of(tokens, bytes, hash_bytes(bytes))].id;
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // upper half of the hash
    uint32_t id = kNone;
  };

  size_t place_of(const std::vector<std::string>& tokens, std::string_view bytes, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].id != kNone &&
           (slots_[at].tag != static_cast<uint32_t>(hash >> 32) || tokens[slots_[at].id] != bytes)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(2);
};

}  // namespace trireme
