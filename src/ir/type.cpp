// Sizes and text of types and placements.
#include "ir/type.h"

#include <fmt/format.h>

namespace trireme {

int64_t bytes_of(const TensorType& type) { return count(type.shape) * size_of(type.dtype); }

std::string to_string(const TensorType& type) {
  return fmt::format("{}[{}]", name_of(type.dtype), to_string(type.shape));
}

std::string to_string(const Placements& placements) {
  constexpr std::array kNames = {"tp", "cp", "ep"};
  std::string text;
  for (int a = 0; a < kBlockAxes; ++a) {
    const Placement& p = placements.axes[a];
    if (p.kind == Placement::Kind::replicate) continue;
    if (!text.empty()) text += ' ';
    text += p.kind == Placement::Kind::partial ? fmt::format("{}=partial", kNames[a])
                                               : fmt::format("{}=shard({})", kNames[a], p.dim);
  }
  return text;
}

}  // namespace trireme
