// Code: what a kind of block does for one micro-batch, made from its Graph by autodiff. Four op lists over
// one table of values:
//   prepare    once per unshard: parameters -> prepared values (packed weights)
//   forward    inputs, batch, params, prepared -> outputs, saved
//   backward   output_grads, saved -> input_grads, and added to param_grads
// A backward op belongs to the input part (it leads to an input_grad) or to the weight part (it leads only to
// param_grads). A schedule runs both parts in the order of the list, or the input part first and the weight
// part later; then values that cross from one to the other are `held`.
// Code also serves what a parameter group does (unshard, zero, norm, optimizer): all in `forward`.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace trireme {

enum class Part : uint8_t { input, weight };

struct Code {
  std::string name;
  std::vector<Value> values;
  std::vector<Op> prepare;
  std::vector<Op> forward;
  std::vector<Op> backward;
  std::vector<Part> parts;  // by backward op

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id.index)]; }
  bool operator==(const Code&) const = default;
};

// The lists that an action runs.
enum class Section : uint8_t { prepare, forward, backward, backward_input, backward_weight };
inline constexpr int kSections = 5;
std::string_view name_of(Section section);

// The ops of a section in the order in which they run.
std::vector<const Op*> ops_of(const Code& code, Section section);

// How a schedule runs the backward: as a whole, or the weight part apart from the input part and later.
enum class BackwardForm : uint8_t { whole, split };

// Gives values that share a name distinct ones ("dx", "dx.2"), so that text can refer to them.
void make_names_unique(std::vector<Value>& values);

}  // namespace trireme
