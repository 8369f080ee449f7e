// How often each element is covered is a sum of indicator functions of boxes. Differencing it once along
// every dim leaves +1 or -1 at each corner of each box (by the parity of its upper sides), and loses nothing,
// since the sum is 0 far outside. So the boxes are the whole, each element once, exactly when the corners of
// all boxes and the negated ones of the whole cancel out. That is a sort, whatever the boxes are.
#include "exchange/box_cover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

namespace trireme {
namespace {

constexpr size_t kMaxCutDims = 4;
constexpr size_t kMaxBoxes = 65536;

struct Corner {
  std::array<int64_t, kMaxCutDims> at{};
  int64_t weight = 0;
};

bool is_inside(const Shape& whole, const Box& box) {
  if (box.offset.size() != whole.size() || box.shape.size() != whole.size()) return false;
  for (size_t d = 0; d < whole.size(); ++d) {
    const bool good = box.shape[d] >= 0 && box.offset[d] >= 0 && box.shape[d] <= whole[d] &&
                      box.offset[d] <= whole[d] - box.shape[d];
    if (!good) return false;
  }
  return true;
}

bool is_empty(const Shape& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

void add_corners(const Box& box, const std::vector<size_t>& dims, int64_t weight,
                 std::vector<Corner>& corners) {
  for (size_t upper = 0; upper < size_t{1} << dims.size(); ++upper) {
    Corner corner{.weight = weight};
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t d = dims[i];
      const bool is_upper = (upper >> i & 1) != 0;
      corner.at[i] = box.offset[d] + (is_upper ? box.shape[d] : 0);
      if (is_upper) corner.weight = -corner.weight;
    }
    corners.push_back(corner);
  }
}

bool cancel_out(std::vector<Corner> corners) {
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) { return a.at < b.at; });
  for (size_t i = 0; i < corners.size();) {
    int64_t sum = 0;
    const auto at = corners[i].at;
    for (; i < corners.size() && corners[i].at == at; ++i) sum += corners[i].weight;
    if (sum != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> cover_fault(const Shape& whole, std::span<const Box> boxes) {
  if (boxes.size() > kMaxBoxes)
    return fmt::format("it lies in {} pieces, more than {}", boxes.size(), kMaxBoxes);
  std::vector<size_t> dims;  // along which it is cut
  for (size_t d = 0; d < whole.size(); ++d) {
    if (std::any_of(boxes.begin(), boxes.end(),
                    [&](const Box& box) { return d < box.shape.size() && box.shape[d] != whole[d]; }))
      dims.push_back(d);
  }
  if (dims.size() > kMaxCutDims)
    return fmt::format("it is cut along {} dims, more than {}", dims.size(), kMaxCutDims);
  std::vector<Corner> corners;
  for (const Box& box : boxes) {
    if (!is_inside(whole, box))
      return fmt::format("the piece [{}] at [{}] is not inside of it", to_string(box.shape),
                         to_string(box.offset));
    if (!is_empty(box.shape)) add_corners(box, dims, 1, corners);
  }
  if (!is_empty(whole)) add_corners({Shape(whole.size(), 0), whole}, dims, -1, corners);
  if (cancel_out(std::move(corners))) return std::nullopt;
  return fmt::format("its {} pieces do not cover it once: there is a hole or an overlap", boxes.size());
}

}  // namespace trireme
