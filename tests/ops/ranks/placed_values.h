// What a placement means: the ranks' parts of a whole value, and the whole that parts stand for.
#pragma once
#include "base/random.h"
#include "ir/type.h"
#include "ops/harness/values.h"

namespace trireme {

// [B,T,..] by rows is [1,B*T/ranks,..].
inline Shape part_shape(Shape whole, Placement placement, int64_t ranks) {
  if (placement == kRows) {
    whole[1] = whole[0] * whole[1] / ranks;
    whole[0] = 1;
  } else if (placement.kind == Placement::Kind::shard) {
    whole[static_cast<size_t>(placement.dim)] /= ranks;
  }
  return whole;
}

// Calls each(rank, index in the rank's part, index in the whole).
template <class F>
void each_element(const Shape& whole, Placement placement, int64_t ranks, const F& each) {
  const int64_t n = count(whole);
  for (int64_t i = 0; i < n; ++i) {
    if (placement == kRows) {
      each(i / (n / ranks), i % (n / ranks), i);
    } else if (placement.kind == Placement::Kind::shard) {
      int64_t inner = 1;
      for (size_t d = static_cast<size_t>(placement.dim) + 1; d < whole.size(); ++d) inner *= whole[d];
      const int64_t size = whole[static_cast<size_t>(placement.dim)], piece = size / ranks;
      const int64_t at = i / inner % size;
      each(at / piece, (i / inner / size * piece + at % piece) * inner + i % inner, i);
    } else {
      for (int64_t r = 0; r < ranks; ++r) each(r, i, i);
    }
  }
}

// Addends are random whole numbers, so that their sum is exact in any dtype.
inline std::vector<Values> parts_of(const Values& whole, const Shape& shape, Placement placement,
                                    int64_t ranks) {
  const RandomStream random(7, "addends");
  const auto n = static_cast<size_t>(count(part_shape(shape, placement, ranks)));
  std::vector<Values> parts(static_cast<size_t>(ranks), Values(n));
  each_element(shape, placement, ranks, [&](int64_t rank, int64_t at, int64_t i) {
    double& part = parts[static_cast<size_t>(rank)][static_cast<size_t>(at)];
    part = whole[static_cast<size_t>(i)];
    if (placement != kPartial) return;
    if (rank + 1 < ranks)
      part = static_cast<double>(random.bits(static_cast<uint64_t>(i * ranks + rank)) % 9) - 4;
    else
      for (int64_t r = 0; r + 1 < ranks; ++r) part -= parts[static_cast<size_t>(r)][static_cast<size_t>(at)];
  });
  return parts;
}

inline Values whole_of(const std::vector<Values>& parts, const Shape& shape, Placement placement) {
  Values whole(static_cast<size_t>(count(shape)));
  each_element(shape, placement, static_cast<int64_t>(parts.size()),
               [&](int64_t rank, int64_t at, int64_t i) {
                 const double part = parts[static_cast<size_t>(rank)][static_cast<size_t>(at)];
                 double& to = whole[static_cast<size_t>(i)];
                 to = placement == kPartial ? to + part : part;
               });
  return whole;
}

}  // namespace trireme
