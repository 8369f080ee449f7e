// Merges the bytes of one piece into tokens: the merge of least priority first, the leftmost of several such,
// until none applies. Knows nothing of text or pieces' origin.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/tokenizer/tokenizer.h"

namespace trireme {

// Appends the tokens of `piece` to `out`. Time is quadratic in a short piece's bytes, where that is fastest,
// and close to linear in a long one's, which takes up to 12 bytes of memory per byte of piece.
void merge_piece(const Tokenizer& tokenizer, std::string_view piece, std::vector<uint32_t>& out);

}  // namespace trireme
