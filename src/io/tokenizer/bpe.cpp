// Two ways to the same tokens. A short piece keeps its tokens and the priorities of their pairs in two small
// arrays and looks for the least each time. A long piece keeps, for each priority that occurs, the list of
// places where it does; a heap holds the priorities. A merge makes a longer token, so it never makes a pair
// of its own priority, and each list is worked off once, in order of place.
#include "io/tokenizer/bpe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kShort = 96;  // bytes; up to here the scan is the faster of the two
constexpr uint32_t kNone = PairTable::kNone;

void merge_short(const Tokenizer& tokenizer, std::string_view piece, std::vector<uint32_t>& out) {
  std::array<uint32_t, kShort> ids;
  std::array<PairTable::Found, kShort> pairs;  // pairs[i]: of ids[i] and ids[i + 1]
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i) ids[i] = tokenizer.byte_ids[static_cast<unsigned char>(piece[i])];
  for (size_t i = 0; i + 1 < count; ++i) pairs[i] = tokenizer.pairs.find(ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].priority < pairs[best].priority) best = i;
    }
    if (pairs[best].priority == kNone) break;
    ids[best] = pairs[best].result;
    const size_t after = count - best - 2;  // tokens to the right of the merged two
    std::memmove(&ids[best + 1], &ids[best + 2], after * sizeof ids[0]);
    if (after > 0) std::memmove(&pairs[best], &pairs[best + 1], after * sizeof pairs[0]);
    --count;
    if (best > 0) pairs[best - 1] = tokenizer.pairs.find(ids[best - 1], ids[best]);
    if (best + 1 < count) pairs[best] = tokenizer.pairs.find(ids[best], ids[best + 1]);
  }
  out.insert(out.end(), ids.begin(), ids.begin() + static_cast<int64_t>(count));
}

// The tokens of a long piece, laid over its bytes. A token's id stands at its first byte, marked, and again
// at its last byte, so that both neighbours of a token are one look away.
class LongPiece {
 public:
  LongPiece(const Tokenizer& tokenizer, std::string_view piece)
      : tokenizer_(tokenizer), slots_(piece.size()) {
    for (size_t i = 0; i < piece.size(); ++i) {
      slots_[i] = kStart | tokenizer.byte_ids[static_cast<unsigned char>(piece[i])];
    }
    for (uint32_t i = 0; i + 1 < slots_.size(); ++i) {
      note(tokenizer_.pairs.find(id_at(i), id_at(i + 1)).priority, i);
    }
  }

  void merge_all() {
    while (!priorities_.empty()) {
      const uint32_t priority = priorities_.top();
      last_priority_ = kNone;
      if (places_.find(priority)->second.heap) {
        work_off_heap(priority);
      } else {
        work_off_list(priority);
      }
    }
  }

  void append_to(std::vector<uint32_t>& out) const {
    for (size_t at = 0; at < slots_.size(); at += bytes_of(id_at(at))) out.push_back(id_at(at));
  }

 private:
  static constexpr uint32_t kStart = 1u << 31;

  struct Places {
    std::vector<uint32_t> list;  // first byte of the left token of a pair
    bool heap = false;           // the list is a heap, least place on top
  };

  uint32_t id_at(size_t at) const { return slots_[at] & ~kStart; }
  size_t bytes_of(uint32_t id) const { return tokenizer_.tokens[id].size(); }

  void note(uint32_t priority, uint32_t place) {
    if (priority == kNone) return;
    if (priority != last_priority_) {
      const auto [entry, added] = places_.try_emplace(priority);
      if (added) priorities_.push(priority);
      last_priority_ = priority;
      last_places_ = &entry->second;
    }
    last_places_->list.push_back(place);
    if (last_places_->heap)
      std::push_heap(last_places_->list.begin(), last_places_->list.end(), std::greater<>());
  }

  // Merges at the places of the least priority, in order, until done or until a merge has brought up a pair
  // that goes first. That is rare; the places left then become a heap, to which later ones are added one by
  // one.
  void work_off_list(uint32_t priority) {
    const auto entry = places_.find(priority);
    std::vector<uint32_t> list = std::move(entry->second.list);
    places_.erase(entry);
    priorities_.pop();
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
    for (size_t i = 0; i < list.size(); ++i) {
      merge_at(list[i], priority);
      if (priorities_.empty() || priorities_.top() > priority) continue;
      list.erase(list.begin(), list.begin() + static_cast<int64_t>(i) + 1);  // ascending, so a heap as it is
      if (list.empty()) return;
      places_[priority] = {std::move(list), true};
      priorities_.push(priority);
      return;
    }
  }

  void work_off_heap(uint32_t priority) {
    std::vector<uint32_t>& list = places_.find(priority)->second.list;
    while (!list.empty() && priorities_.top() == priority) {
      std::pop_heap(list.begin(), list.end(), std::greater<>());
      const uint32_t place = list.back();
      list.pop_back();
      merge_at(place, priority);
    }
    if (priorities_.top() != priority) return;
    priorities_.pop();
    places_.erase(priority);
  }

  // Merges the token at `at` with the next, if both are still what they were when the place was noted.
  void merge_at(uint32_t at, uint32_t priority) {
    if ((slots_[at] & kStart) == 0) return;
    const size_t middle = at + bytes_of(id_at(at));
    if (middle >= slots_.size()) return;
    const PairTable::Found pair = tokenizer_.pairs.find(id_at(at), id_at(middle));
    if (pair.priority != priority) return;
    const size_t end = middle + bytes_of(id_at(middle));
    slots_[middle] = 0;
    slots_[end - 1] = pair.result;
    slots_[at] = kStart | pair.result;
    if (at > 0) {
      const uint32_t before = id_at(at - 1);
      note(tokenizer_.pairs.find(before, pair.result).priority, at - static_cast<uint32_t>(bytes_of(before)));
    }
    if (end < slots_.size()) note(tokenizer_.pairs.find(pair.result, id_at(end)).priority, at);
  }

  const Tokenizer& tokenizer_;
  std::vector<uint32_t> slots_;
  std::unordered_map<uint32_t, Places> places_;  // by priority
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> priorities_;
  uint32_t last_priority_ = kNone;  // the list that `note` used last
  Places* last_places_ = nullptr;
};

}  // namespace

void merge_piece(const Tokenizer& tokenizer, std::string_view piece, std::vector<uint32_t>& out) {
  if (piece.size() <= kShort) {
    merge_short(tokenizer, piece, out);
    return;
  }
  if (piece.size() >= UINT32_MAX)
    fail_user("a piece of {} bytes is longer than 4 GB; cut the text", piece.size());
  LongPiece tokens(tokenizer, piece);
  tokens.merge_all();
  tokens.append_to(out);
}

}  // namespace trireme
