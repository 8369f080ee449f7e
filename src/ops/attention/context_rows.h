// Which rows of a sequence each rank of the context axis has. The batch is cut by it (train/batches.h) and
// the attention ops over the axis count on it.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace trireme {

struct RowRange {
  int64_t begin = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

// zigzag: the T rows are 2n chunks and rank r has chunks r and 2n-1-r, so that causal attention is the same
// work for every rank (Llama Team 2024, section 3.3.2). contiguous: rank r has the r-th of n chunks.
enum class ContextRows : uint8_t { zigzag, contiguous };

// Of parallel.cp_mode: ring and allgather are zigzag, ulysses is contiguous.
ContextRows context_rows_of(std::string_view cp_mode);

// Rank `rank`'s rows, in the order in which it holds them. Throws std::invalid_argument where the ranks'
// chunks do not divide T.
std::vector<RowRange> context_rows(int64_t T, int64_t ranks, int64_t rank, ContextRows rows);

}  // namespace trireme
