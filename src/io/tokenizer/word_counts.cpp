// Counting on all cores: the files are mapped and cut into chunks of some megabytes, which the threads take
// in turn.
#include "io/tokenizer/word_counts.h"

#include <atomic>
#include <thread>
#include <utility>

#include "io/files/mapped_file.h"
#include "io/tokenizer/byte_hash.h"
#include "io/tokenizer/split.h"

namespace trireme {
namespace {

constexpr size_t kChunkBytes = size_t{4} << 20;

bool ends_piece(char before, char after) {
  return before == '\n' &&
         ((after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') || (after >= '0' && after <= '9'));
}

std::vector<std::string_view> cut(std::string_view text) {
  std::vector<std::string_view> chunks;
  while (text.size() > kChunkBytes) {
    size_t at = kChunkBytes;
    while (at < text.size() && !ends_piece(text[at - 1], text[at])) ++at;
    chunks.push_back(text.substr(0, at));
    text.remove_prefix(at);
  }
  if (!text.empty()) chunks.push_back(text);
  return chunks;
}

}  // namespace

WordCounts::WordCounts() : places_(size_t{1} << 12) {}

void WordCounts::add(std::string_view word, int64_t count) {
  const uint64_t hash = hash_bytes(word);
  const size_t mask = places_.size() - 1;
  size_t at = hash & mask;
  for (; places_[at] != 0; at = (at + 1) & mask) {
    Word& known = words_[places_[at] - 1];
    if (known.hash == hash && bytes_of(known) == word) {
      known.count += count;
      return;
    }
  }
  words_.push_back({hash, buffer_.size(), static_cast<uint32_t>(word.size()), count});
  buffer_ += word;
  places_[at] = static_cast<uint32_t>(words_.size());
  if (words_.size() * 2 > places_.size()) grow();
}

void WordCounts::add_all(const WordCounts& other) {
  for (const Word& word : other.words_) add(other.bytes_of(word), word.count);
}

void WordCounts::grow() {
  places_.assign(places_.size() * 2, 0);
  const size_t mask = places_.size() - 1;
  for (size_t i = 0; i < words_.size(); ++i) {
    size_t at = words_[i].hash & mask;
    while (places_[at] != 0) at = (at + 1) & mask;
    places_[at] = static_cast<uint32_t>(i + 1);
  }
}

WordCounts count_words(const std::vector<std::string>& files, const SplitPattern& pattern, int threads) {
  std::vector<MappedFile> texts;
  std::vector<std::string_view> chunks;
  for (const std::string& path : files) {
    const auto bytes = texts.emplace_back(path).bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const std::string_view chunk : cut(text)) chunks.push_back(chunk);
  }
  std::vector<WordCounts> counts(static_cast<size_t>(threads));
  std::atomic<size_t> next{0};
  const auto work = [&](WordCounts& mine) {
    const Splitter splitter(pattern);
    for (size_t i = next++; i < chunks.size(); i = next++) {
      splitter.split(chunks[i], [&](std::string_view piece) {
        if (piece.size() <= kMaxTrainedPiece) mine.add(piece, 1);
      });
    }
  };
  std::vector<std::jthread> workers;
  for (size_t i = 1; i < counts.size(); ++i) workers.emplace_back(work, std::ref(counts[i]));
  work(counts[0]);
  workers.clear();
  for (size_t i = 1; i < counts.size(); ++i) counts[0].add_all(counts[i]);
  return std::move(counts[0]);
}

}  // namespace trireme
