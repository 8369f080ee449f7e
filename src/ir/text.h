// The text form of every IR: print and parse are inverse. Passes are tested on it and people read it.
//
//   graph gpt2.layer
//     value x: input bf16[4,64,64]
//     value y: local bf16[4,64,64] tp=shard(1)
//     op y, mean, rstd = layernorm(x, weight, _) {eps=1e-05}
//     return y
//   end
//
// `_` stands for an optional operand that is not given. Code has op lists instead of `return`:
// `prepare`, `forward`, `backward.input` and `backward.weight` before `op`'s place.
#pragma once
#include <string>
#include <string_view>

#include "ir/program.h"

namespace trireme {

std::string to_text(const Graph& graph);
std::string to_text(const Code& code);
std::string to_text(const Program& program);

// UserError with the line number when the text is no such thing.
Graph parse_graph(std::string_view text);
Code parse_code(std::string_view text);
Program parse_program(std::string_view text);

}  // namespace trireme
