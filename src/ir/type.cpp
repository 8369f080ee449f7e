// Sizes and text of types and placements.
#include "ir/type.h"

#include <fmt/format.h>

namespace trireme {

int64_t bytes_of(const TensorType& type) { return count(type.shape) * size_of(type.dtype); }

std::string to_string(const TensorType& type) {
  return fmt::format("{}[{}]", name_of(type.dtype), to_string(type.shape));
}

std::string_view name_of(BlockAxis axis) {
  constexpr std::array<std::string_view, kBlockAxes> kNames = {"tp", "cp", "ep"};
  return kNames[static_cast<size_t>(axis)];
}

std::string to_string(const Placements& placements) {
  std::string text;
  for (int a = 0; a < kBlockAxes; ++a) {
    const Placement& p = placements.axes[a];
    if (p.kind == Placement::Kind::replicate) continue;
    if (!text.empty()) text += ' ';
    text += name_of(static_cast<BlockAxis>(a));
    text += p.kind == Placement::Kind::partial ? "=partial"
            : p.kind == Placement::Kind::rows  ? "=rows"
                                               : fmt::format("=shard({})", p.dim);
  }
  return text;
}

}  // namespace trireme
