// Placement rules: how an op is cut over the ranks of one mesh axis. The shard pass (passes/shard.h) asks
// each op in turn with the placements that its operands have, and moves those that the rule wants elsewhere.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/type.h"

namespace trireme {

struct PlaceQuery {
  const Op& op;
  std::span<const TensorType> inputs;  // as they lie: cut as `placed` says; absent_type() where there is none
  std::span<const Placement> placed;   // by input, on this axis
  std::vector<bool> params;            // by input: it is a parameter, placed as its role says
  Placement home;                      // of activations between layers: where addends are best summed to
  BlockAxis axis = BlockAxis::tp;
  int64_t ranks = 1, rank = 0;  // of the axis
  std::string_view cp_mode;     // ring | allgather | ulysses
};

// The op as each rank runs it. `then`: an operand that is not to be summed with the rest where the output is
// a sum of addends (the bias of a row-parallel linear); the op runs without it, and `kind`(sum, operand)
// after it.
struct Cut {
  struct Then {
    size_t input = 0;
    std::string kind;
  };
  std::vector<Placement> inputs;   // wanted
  std::vector<Placement> outputs;  // made
  std::string kind;                // of the op; another one where ranks have to talk inside it
  Attrs attrs;
  std::optional<Then> then = {};
};

// Throws std::invalid_argument where the op cannot be cut so.
using PlaceRule = Cut (*)(const PlaceQuery& query);

// The rule of ops that know nothing of other rows: rows stay where they are, parameters are whole. What
// arrives as a sum of addends is summed first. Used where an op has no rule of its own.
Cut place_by_rows(const PlaceQuery& query);

// The rule of ops that know nothing of other elements: any slice will do.
Cut place_by_elements(const PlaceQuery& query);

// Everything whole on every rank.
Cut place_whole(const PlaceQuery& query);

// A cut that keeps the op; outputs all like `made`.
Cut keep_op(const PlaceQuery& query, std::vector<Placement> inputs, Placement made);

// Attributes that every op has whose kernel talks to the other ranks of an axis: it then gets Operands::comm.
struct AxisAttrs {
  std::string axis;  // "": the op stays on its rank
  int64_t ranks = 1, rank = 0;
  template <class F>
  void fields(F&& f) {
    f("axis", axis);
    f("ranks", ranks);
    f("rank", rank);
  }
};

inline AxisAttrs axis_attrs(const PlaceQuery& query) {
  return {std::string(name_of(query.axis)), query.ranks, query.rank};
}

}  // namespace trireme
