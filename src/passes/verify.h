// Holds a Graph or a Code to the rules that every pass relies on; run after each pass. A breach is a bug of
// the pass and aborts, naming it, the op and the values.
//
// Rules: ops exist; operands are in range and present where the definition asks for them; attributes and
// inputs give the outputs' types by the shape rule; every value is made before it is used, and once, unless
// it is an accumulator; names are unique; graph outputs are made by ops.
#pragma once
#include <string_view>

#include "ir/code.h"

namespace trireme {

void verify(const Graph& graph, std::string_view after);
void verify(const Code& code, std::string_view after);

}  // namespace trireme
