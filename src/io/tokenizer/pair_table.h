// The map that BPE asks once per step: (left id, right id) -> what the merge gives. An open-addressing
// table, since the look-up is the inner loop of encoding.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trireme {

class PairTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  // no such merge; larger than every priority

  struct Found {
    uint32_t priority = kNone;
    uint32_t result = kNone;
  };

  // Room for `count` pairs at half load. Drops what was there.
  void reset(size_t count) {
    slots_.assign(std::bit_ceil(count * 2 + 2), Slot{});
    shift_ = 64 - std::countr_zero(slots_.size());
  }

  // False when the pair is there already.
  bool insert(uint32_t left, uint32_t right, Found found) {
    const uint64_t key = key_of(left, right);
    size_t at = place_of(key);
    while (slots_[at].found.result != kNone) {
      if (slots_[at].key == key) return false;
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {key, found};
    return true;
  }

  // Priority kNone when the two do not merge.
  Found find(uint32_t left, uint32_t right) const {
    const uint64_t key = key_of(left, right);
    size_t at = place_of(key);
    while (slots_[at].found.result != kNone) {
      if (slots_[at].key == key) return slots_[at].found;
      at = (at + 1) & (slots_.size() - 1);
    }
    return {};
  }

 private:
  struct Slot {
    uint64_t key = 0;
    Found found;
  };

  static uint64_t key_of(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  size_t place_of(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> shift_; }

  std::vector<Slot> slots_ = std::vector<Slot>(2);
  int shift_ = 63;
};

}  // namespace trireme
