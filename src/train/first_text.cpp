// Lengths first, then the one text.
#include "train/first_text.h"

#include <algorithm>
#include <vector>

namespace trireme {

std::string first_text(Communicator& ranks, const std::string& mine, std::string_view what) {
  std::vector<int64_t> lengths(static_cast<size_t>(ranks.size()));
  const auto length = static_cast<int64_t>(mine.size());
  ranks.all_gather(&length, lengths.data(), sizeof length, what);
  const auto first = std::find_if(lengths.begin(), lengths.end(), [](int64_t n) { return n > 0; });
  if (first == lengths.end()) return "";
  std::string text = mine;
  text.resize(static_cast<size_t>(*first));
  ranks.broadcast(text.data(), *first, static_cast<int>(first - lengths.begin()), what);
  return text;
}

}  // namespace trireme
