// A tensor's type, and where its parts lie on the mesh axes that cut the inside of a block.
#pragma once
#include <array>
#include <string>

#include "base/dtype.h"
#include "base/shape.h"

namespace trireme {

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// The type of an optional operand that is not there: it has no elements.
inline TensorType absent_type() { return {DType::f32, {0}}; }
inline bool present(const TensorType& type) { return count(type.shape) > 0; }

int64_t bytes_of(const TensorType& type);
std::string to_string(const TensorType& type);  // "bf16[4,1024,768]"

// Mesh axes inside a block (DESIGN.md section 4). Data and pipeline axes never cut a block's values.
enum class BlockAxis : uint8_t { tp, cp, ep };
inline constexpr int kBlockAxes = 3;

std::string_view name_of(BlockAxis axis);

// On one axis every rank holds the whole (replicate), a slice along `dim` (shard), a slice of the rows, that
// is of all dims but the last seen as one (rows: [B,T,C] becomes [1,B*T/n,C]), or an addend (partial).
struct Placement {
  enum class Kind : uint8_t { replicate, shard, rows, partial };
  Kind kind = Kind::replicate;
  int32_t dim = 0;  // of the shard
  bool operator==(const Placement&) const = default;
};
inline constexpr Placement kReplicate{};
inline constexpr Placement kRows{Placement::Kind::rows, 0};
inline constexpr Placement kPartial{Placement::Kind::partial, 0};
constexpr Placement shard_of(int32_t dim) { return {Placement::Kind::shard, dim}; }

struct Placements {
  std::array<Placement, kBlockAxes> axes;
  bool operator==(const Placements&) const = default;
};

// "tp=shard(2) ep=partial"; "" when replicated on every axis.
std::string to_string(const Placements& placements);

}  // namespace trireme
