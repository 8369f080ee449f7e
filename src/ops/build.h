// Adds ops to a Graph by the shape rules of the op table: how models and passes write Graphs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace trireme {

// Appends an op with fresh local values for its outputs, named as given (an empty name leaves an optional
// output absent). Returns the output ids.
std::vector<ValueId> add_op(Graph& graph, std::string_view kind, Attrs attrs, std::vector<ValueId> inputs,
                            const std::vector<std::string>& output_names);

// Gives every local value the type that the shape rules say, from the inputs' types on: after a pass has
// changed those.
void infer_types(Graph& graph);

}  // namespace trireme
