// How ranks share a parameter on the axes that cut the inside of a block: what of the whole one a rank has.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "ir/mesh.h"
#include "ir/type.h"

namespace trireme {

// What a parameter is to the op that reads it: passes decide by it how ranks may share it.
enum class ParamRole : uint8_t {
  whole,          // norms, biases of what is summed, small tables
  column,         // [out,in] or [out]: each output is computed from a row of it
  row,            // [out,in]: outputs are sums over its columns
  vocabulary,     // [V,C]: a row per token id
  expert_column,  // [E,out,in], likewise for each expert
  expert_row,
  router_state,  // f32[2,E], no gradient: the balancing bias of the experts, then a row that stays 0. What is
                 // summed as its gradient is each expert's load, then its dropped tokens
};

std::string_view name_of(ParamRole role);

struct ParamUse {
  ParamRole role = ParamRole::whole;
  // Columns that belong together: the sizes along `out` of parts that are each cut by themselves (q heads, k
  // heads, v heads; gate, up). Empty: one part.
  std::vector<int64_t> parts;
  int64_t unit = 1;  // what is cut is a multiple of it: a head's size
};

// A rank's place on the axes that cut parameters.
struct ParamAxes {
  int64_t tp = 1, tp_rank = 0;
  int64_t ep = 1, ep_rank = 0;
  int64_t etp = 1;  // 1, or tp: experts are cut on tp too
  bool operator==(const ParamAxes&) const = default;
};

struct IndexRange {
  int64_t begin = 0, count = 0;
  bool operator==(const IndexRange&) const = default;
};

// Along one dim: which indexes of the whole parameter the rank has, in the order in which it has them. What
// its own dim is longer is padding.
struct DimCut {
  int32_t dim = 0;
  std::vector<IndexRange> ranges;
  bool operator==(const DimCut&) const = default;
};

struct ParamCut {
  Shape shape;               // of the rank's own
  std::vector<DimCut> dims;  // those that are cut
  bool operator==(const ParamCut&) const = default;
};

bool is_expert(ParamRole role);
// Whether the ranks of tp have slices of their own.
bool is_cut_on_tp(ParamRole role, const Mesh& mesh);

Placements placements_of(const ParamUse& use, const ParamAxes& axes);

// Throws std::invalid_argument where a part does not divide.
ParamCut cut_param(const ParamUse& use, const Shape& whole, const ParamAxes& axes);

// Of the rank's own: the ranges that it has along a dim, the whole of it where that is not cut.
std::vector<IndexRange> ranges_of(const ParamCut& cut, size_t dim);

// A run of elements that lie side by side in the whole parameter and in the rank's own.
struct ElementRun {
  int64_t whole = 0, own = 0, count = 0;
  bool operator==(const ElementRun&) const = default;
};

// All of them, in the order of the rank's own.
std::vector<ElementRun> runs_of(const ParamCut& cut, const Shape& whole);

}  // namespace trireme
