// What the files of names build a NameMap with: a call per correspondence, in our names.
#pragma once
#include <string>

#include "exchange/name_map.h"

namespace trireme {

struct MatrixRows {
  int64_t first = 0, count = 0;
};

class MapBuilder {
 public:
  explicit MapBuilder(const ModelSpec& spec);

  bool has(const std::string& ours) const { return index_.count(ours) > 0; }
  const Shape& shape(const std::string& ours) const { return map_.params[index(ours)].shape; }

  // A tensor of the other project; the same name twice is the same tensor.
  size_t foreign(const std::string& name, const Shape& shape, ForeignUse use = ForeignUse::part);
  void keep_f32(const std::string& name);

  // A tensor that is our parameter, element by element.
  void whole(const std::string& ours, const std::string& name, ForeignUse use = ForeignUse::part);
  // One that is our matrix [out, in] as [in, out].
  void transposed(const std::string& ours, const std::string& name);
  // One that is some rows of ours, also of a vector.
  void rows(const std::string& ours, MatrixRows range, const std::string& name, const PairOrder& order = {});
  // A matrix [rows, cols] of ours from element `begin` on.
  void slab(const std::string& ours, int64_t begin, int64_t rows, int64_t cols, const std::string& name);
  void piece(const std::string& ours, MapPiece piece);

  // CHECKs that every element of every parameter stands in just one tensor of use `part`, routers' state
  // left out, and orders the pieces.
  NameMap take();

 private:
  size_t index(const std::string& ours) const;

  NameMap map_;
  std::map<std::string, size_t> index_, foreign_index_;
};

}  // namespace trireme
