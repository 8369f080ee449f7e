// Correspondences as pieces, and the count that says whether any was forgotten.
#include "exchange/map_builder.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {

int64_t foreign_row(const PairOrder& order, int64_t row) {
  if (order.period == 0) return row;
  const int64_t start = row / order.period * order.period + order.first;
  const int64_t dim = row - start;
  if (dim < 0 || dim >= order.dims) return row;
  if (order.ours == RopeLayout::interleaved) return start + dim % 2 * (order.dims / 2) + dim / 2;
  return start + dim % (order.dims / 2) * 2 + dim / (order.dims / 2);
}

MapBuilder::MapBuilder(const ModelSpec& spec) {
  map_.params = build_model(spec, {.batch = 1, .seq_len = 1}).params;
  for (size_t i = 0; i < map_.params.size(); ++i) index_[map_.params[i].name] = i;
}

size_t MapBuilder::index(const std::string& ours) const {
  const auto it = index_.find(ours);
  CHECK(it != index_.end(), "no parameter {}", ours);
  return it->second;
}

size_t MapBuilder::foreign(const std::string& name, const Shape& shape, ForeignUse use) {
  const auto [it, added] = foreign_index_.emplace(name, map_.foreign.size());
  if (added) map_.foreign.push_back({name, shape, use});
  CHECK(map_.foreign[it->second].shape == shape, "{} is [{}] and [{}]", name,
        to_string(map_.foreign[it->second].shape), to_string(shape));
  return it->second;
}

void MapBuilder::keep_f32(const std::string& name) {
  map_.foreign[foreign_index_.at(name)].always_f32 = true;
}

void MapBuilder::piece(const std::string& ours, MapPiece piece) {
  piece.ours = index(ours);
  map_.pieces.push_back(piece);
}

void MapBuilder::whole(const std::string& ours, const std::string& name, ForeignUse use) {
  const int64_t n = count(shape(ours));
  piece(ours, {.foreign = foreign(name, shape(ours), use), .rows = 1, .cols = n, .stride = n});
}

void MapBuilder::transposed(const std::string& ours, const std::string& name) {
  const int64_t out = shape(ours).at(0), in = shape(ours).at(1);
  piece(ours, {.foreign = foreign(name, {in, out}),
               .rows = out,
               .cols = in,
               .stride = in,
               .foreign_row_step = 1,
               .foreign_col_step = out});
}

void MapBuilder::rows(const std::string& ours, MatrixRows range, const std::string& name,
                      const PairOrder& order) {
  Shape part = shape(ours);
  const int64_t cols = count(part) / part.at(0);
  part[0] = range.count;
  MapPiece made{.foreign = foreign(name, part), .rows = range.count, .cols = cols, .stride = cols};
  made.begin = range.first * cols;
  made.foreign_row_step = cols;
  made.order = order;
  if (order.period == 0) {
    made.rows = 1;
    made.cols = made.stride = range.count * cols;
  }
  piece(ours, made);
}

void MapBuilder::slab(const std::string& ours, int64_t begin, int64_t rows, int64_t cols,
                      const std::string& name) {
  const int64_t n = rows * cols;
  piece(ours, {.foreign = foreign(name, {rows, cols}), .rows = 1, .cols = n, .begin = begin, .stride = n});
}

NameMap MapBuilder::take() {
  std::vector<int64_t> covered(map_.params.size());
  for (const MapPiece& piece : map_.pieces)
    if (map_.foreign[piece.foreign].use == ForeignUse::part) covered[piece.ours] += piece.rows * piece.cols;
  for (size_t i = 0; i < covered.size(); ++i)
    CHECK(map_.params[i].use.role == ParamRole::router_state || covered[i] == count(map_.params[i].shape),
          "{}: {} of {} elements have a name", map_.params[i].name, covered[i], count(map_.params[i].shape));
  std::ranges::stable_sort(map_.pieces, {}, &MapPiece::ours);
  return std::move(map_);
}

}  // namespace trireme
